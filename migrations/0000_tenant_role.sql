-- Every tenant access runs as app_tenant: row-level security bites there, as it would not for the
-- owner of the tables (and on Neon the owner bypasses it altogether).
DO $$ BEGIN
  CREATE ROLE app_tenant NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;--> statement-breakpoint
DO $$ BEGIN
  EXECUTE format('GRANT app_tenant TO %I WITH SET TRUE, INHERIT FALSE', current_user);
END $$;--> statement-breakpoint
GRANT USAGE ON SCHEMA public TO app_tenant;--> statement-breakpoint
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO app_tenant;
