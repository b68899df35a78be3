CREATE TABLE "call_analyses" (
	"org_id" text NOT NULL,
	"call_id" text NOT NULL,
	"summary" text NOT NULL,
	"sentiment" text NOT NULL,
	"tags" text[] NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "call_analyses_org_id_call_id_pk" PRIMARY KEY("org_id","call_id")
);
--> statement-breakpoint
ALTER TABLE "call_analyses" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "call_analyses" ADD CONSTRAINT "call_analyses_call" FOREIGN KEY ("org_id","call_id") REFERENCES "public"."calls"("org_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "calls_open" ON "calls" USING btree ("org_id","type") WHERE status < 3;--> statement-breakpoint
CREATE POLICY "own_rows_only" ON "call_analyses" AS PERMISSIVE FOR ALL TO "app_tenant" USING (org_id = nullif(current_setting('app.org_id', true), '')) WITH CHECK (org_id = nullif(current_setting('app.org_id', true), ''));