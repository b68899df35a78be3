import { describe, expect, test } from "vitest";
import { isFailure } from "../../../src/errors.ts";
import { checkDestination } from "../../../src/resources/webhooks/destination.ts";

const rules = { devOrigins: [] as string[], ownOrigin: "https://api.service.example" };
const check = (text: string, more: Partial<typeof rules> = {}) =>
  checkDestination("callbackUrl", text, { ...rules, ...more });

describe("what may be called", () => {
  test.each([
    ["https://example.com/", "https://example.com/"],
    ["https://hooks.example.com:8443/a?b=c", "https://hooks.example.com:8443/a?b=c"],
    ["HTTPS://EXAMPLE.COM", "https://example.com/"],
    ["https://example.com./a", "https://example.com./a"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
    // What looks like options of a queue is only the customer's query.
    ["https://example.com/?upstash-retries=0", "https://example.com/?upstash-retries=0"],
    [
      "https://example.com/?url=http://169.254.169.254/",
      "https://example.com/?url=http://169.254.169.254/",
    ],
    // To a parser these name example.com; what another one might see behind it is gone.
    ["https://example.com\\@127.0.0.1/", "https://example.com/@127.0.0.1/"],
    ["https://example.com#@127.0.0.1/", "https://example.com/#@127.0.0.1/"],
    ["https://example.com/\r\nHost:127.0.0.1", "https://example.com/Host:127.0.0.1"],
    ["https://local.example.com/", "https://local.example.com/"],
    ["https://localhost.example.com/", "https://localhost.example.com/"],
  ])("%j", (text, dialled) => {
    expect(check(text)).toBe(dialled);
  });

  test("the origins of development, exactly", () => {
    const devOrigins = ["http://127.0.0.1:9000"];
    expect(check("http://127.0.0.1:9000/inbox/a", { devOrigins })).toBe(
      "http://127.0.0.1:9000/inbox/a",
    );
    for (const text of [
      "http://127.0.0.1:9001/",
      "https://127.0.0.1:9000/",
      "http://127.0.0.1:9000.example.com/",
      "http://localhost:9000/",
    ]) {
      expect([text, isFailure(check(text, { devOrigins }))]).toEqual([text, true]);
    }
  });
});

describe("what may not", () => {
  test.each([
    "",
    "example.com",
    "//example.com",
    "/hook",
    "https://",
    "https:// a",
    "https://[::1",
  ])("no absolute URL: %j", refused);

  test.each([
    "http://example.com/",
    "ftp://example.com/",
    "wss://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,hello",
    "blob:https://example.com/1",
  ])("another scheme: %j", refused);

  test.each([
    "https://user@example.com/",
    "https://user:password@example.com/",
    "https://:password@example.com/",
    "https://example.com@127.0.0.1/",
    "https://127.0.0.1:443@example.com/",
  ])("a user or a password: %j", refused);

  /** One of each range that is not for everybody, and some that are: an address names no host. */
  const addresses = [
    ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254"],
    ...["172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1"],
    ...["198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["1.1.1.1", "8.8.8.8"],
    ...["[::]", "[::1]", "[ff02::1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]"],
    ...["[2001:db8::1]", "[3fff::1]", "[100::1]", "[2002:7f00:1::]", "[64:ff9b::7f00:1]"],
    ...["[64:ff9b:1::1]", "[5f00::1]", "[2606:4700:4700::1111]"],
  ];
  test.each(addresses)("an address: %s", (host) => refused(`https://${host}/`));

  test.each([
    ...["2130706433", "017700000001", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.1", "127.0.1"],
    ...[
      "0",
      "127.0.0.1.",
      "0x7f.1",
      "00000177.1",
      "１２７.０.０.１",
      "127。0。0。1",
      "%31%32%37.0.0.1",
    ],
    ...["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]"],
    ...["[::ffff:169.254.169.254]", "169.254.43518", "2852039166", "[64:ff9b::169.254.169.254]"],
  ])("an address in disguise: %s", (host) => refused(`https://${host}/`));

  test.each([
    ...[
      "localhost",
      "LOCALHOST",
      "localhost.",
      "ｌｏｃａｌｈｏｓｔ",
      "a.localhost",
      "printer.local",
    ],
    ...["printer.local.", "metadata.google.internal", "a.internal", "router.home.arpa"],
    ...["a.localdomain", "intranet", "intranet.", "com", "metadata"],
  ])("a name for insiders: %s", (host) => refused(`https://${host}/`));

  test.each([
    "https://api.service.example/",
    "https://api.service.example./v1/calls",
    "https://API.SERVICE.EXAMPLE:8443/",
  ])("the service itself: %s", refused);

  test.each(["https://127.0.0.1#.example.com/", "https://127.0.0.1\\.example.com/"])(
    "an address before a mark that ends the host: %s",
    refused,
  );

  test("the refusal names the field", () => {
    expect(checkDestination("url", "https://10.0.0.1/", rules)).toMatchObject({
      failed: "validation_failed",
      issues: [{ path: "url", message: "must name a host, not an address" }],
    });
  });
});

function refused(text: string) {
  expect(check(text)).toMatchObject({ failed: "validation_failed" });
}
