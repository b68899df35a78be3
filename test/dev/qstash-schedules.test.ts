import { expect, test } from "vitest";
import { dailyIn, serveQStash, serveReceiver } from "./qstash-support.ts";

test("a schedule fires each time the queue's clock passes it", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const { scheduleId } = await world.client.schedules.create({
    destination: `${destination.url}/sweep?a=1`,
    cron: dailyIn(30),
    body: "sweep",
    scheduleId: "sweep",
  });
  const counts: number[] = [];
  for (let hour = 1; hour <= 48; hour += 1) {
    await world.qstash.advance(3600);
    counts.push(destination.received.length);
  }
  expect([counts[0], counts[22], counts[25], counts[47]]).toEqual([1, 1, 2, 2]);
  expect(destination.received[0]).toMatchObject({
    path: "/sweep?a=1",
    body: "sweep",
    headers: { "upstash-schedule-id": scheduleId },
  });
});

test("runs skipped over by one advance count as one", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  await world.client.schedules.create({ destination: destination.url, cron: dailyIn(30) });
  await world.qstash.advance(3 * 86_400);
  expect(destination.received).toHaveLength(1);
  await world.qstash.advance(86_400);
  expect(destination.received).toHaveLength(2);
});

test("a schedule created again under its id takes the place of the old one", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const { schedules } = world.client;
  for (const path of ["/old", "/new"]) {
    await schedules.create({
      destination: destination.url + path,
      cron: "CRON_TZ=Europe/Berlin 0 9 * * 1-5",
      scheduleId: "one",
      delay: 5,
      retries: 1,
      label: "cron",
    });
  }
  expect(await schedules.list()).toEqual([await schedules.get("one")]);
  const schedule = await schedules.get("one");
  expect(schedule).toMatchObject({
    scheduleId: "one",
    destination: `${destination.url}/new`,
    cron: "CRON_TZ=Europe/Berlin 0 9 * * 1-5",
    delay: 5,
    retries: 1,
    labels: ["cron"],
    isPaused: false,
  });
  const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", timeZone: "Europe/Berlin" });
  expect(hour.format(schedule.nextScheduleTime)).toBe("09");
});

test("a paused or deleted schedule does not fire, a resumed one does", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const { schedules } = world.client;
  const { scheduleId } = await schedules.create({
    destination: destination.url,
    cron: dailyIn(30),
  });
  await schedules.pause({ schedule: scheduleId });
  await world.qstash.advance(2 * 86_400);
  expect(destination.received).toHaveLength(0);
  expect(await schedules.get(scheduleId)).toMatchObject({ isPaused: true });
  await schedules.resume({ schedule: scheduleId });
  await world.qstash.advance(86_400);
  expect(destination.received).toHaveLength(1);
  await schedules.delete(scheduleId);
  await world.qstash.advance(2 * 86_400);
  expect(destination.received).toHaveLength(1);
  await expect(schedules.get(scheduleId)).rejects.toMatchObject({ status: 404 });
});

test.each(["* * * *", "* * * * * *", "61 * * * *", "CRON_TZ=Nowhere/Land * * * * *"])(
  "the cron expression %s is refused with 400",
  async (cron) => {
    await using world = await serveQStash();
    const creation = world.client.schedules.create({ destination: "http://127.0.0.1:1/", cron });
    await expect(creation).rejects.toMatchObject({ status: 400 });
    expect(await world.client.schedules.list()).toEqual([]);
  },
);
