CREATE TABLE "webhook_attempt_counts" (
	"org_id" text NOT NULL,
	"day" date NOT NULL,
	"type" text NOT NULL,
	"outcome" text NOT NULL,
	"shard" integer NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "webhook_attempt_counts_org_id_day_type_outcome_shard_pk" PRIMARY KEY("org_id","day","type","outcome","shard")
);
--> statement-breakpoint
ALTER TABLE "webhook_attempt_counts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"org_id" text NOT NULL,
	"id" text NOT NULL,
	"url" text NOT NULL,
	"events" text[],
	"description" text,
	"webhook_secret" text NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"disabled_at" timestamp (3) with time zone,
	"disabled_reason" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "webhook_endpoints_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"org_id" text NOT NULL,
	"id" text NOT NULL,
	"fingerprint" text NOT NULL,
	"token" text NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"took_effect" boolean NOT NULL,
	"status" integer,
	"body" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "service_marks" (
	"name" text PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "service_marks" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP INDEX "deliveries_once_per_destination";--> statement-breakpoint
ALTER TABLE "deliveries" ALTER COLUMN "key_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "call_id" text;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "endpoint_id" text;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "resend_of" text;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "lane" text;--> statement-breakpoint
CREATE INDEX "webhook_endpoints_present" ON "webhook_endpoints" USING btree ("org_id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_oldest" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_endpoint" FOREIGN KEY ("org_id","endpoint_id") REFERENCES "public"."webhook_endpoints"("org_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_attempts_by_outcome" ON "webhook_attempts" USING btree ("org_id","outcome","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "webhook_attempts_by_type" ON "webhook_attempts" USING btree ("org_id","type","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "webhook_attempts_by_call" ON "webhook_attempts" USING btree ("org_id","call_id","created_at" DESC NULLS FIRST) WHERE call_id is not null;--> statement-breakpoint
CREATE INDEX "webhook_attempts_pending" ON "webhook_attempts" USING btree ("created_at") WHERE outcome = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "deliveries_once_per_callback" ON "deliveries" USING btree ("org_id","event_id","type","url") WHERE endpoint_id is null and resend_of is null;--> statement-breakpoint
CREATE INDEX "events_kept" ON "events" USING btree ("created_at") WHERE body <> '';--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_one_signer" CHECK (num_nonnulls(key_id, endpoint_id) = 1);--> statement-breakpoint
CREATE POLICY "own_rows_only" ON "webhook_attempt_counts" AS PERMISSIVE FOR ALL TO "app_tenant" USING (org_id = nullif(current_setting('app.org_id', true), '')) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), ''));--> statement-breakpoint
CREATE POLICY "own_rows_only" ON "webhook_endpoints" AS PERMISSIVE FOR ALL TO "app_tenant" USING (org_id = nullif(current_setting('app.org_id', true), '')) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), ''));--> statement-breakpoint
CREATE POLICY "own_rows_only" ON "idempotency_keys" AS PERMISSIVE FOR ALL TO "app_tenant" USING (org_id = nullif(current_setting('app.org_id', true), '')) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), ''));