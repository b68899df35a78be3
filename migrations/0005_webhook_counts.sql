-- Counts attempts as they end. A trigger, because whatever writes an attempt must count it.
CREATE FUNCTION count_webhook_attempt() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.outcome = NEW.outcome THEN
    RETURN NULL;
  END IF;
  INSERT INTO webhook_attempt_counts (org_id, day, type, outcome, shard, count)
  SELECT org_id, (created_at AT TIME ZONE 'UTC')::date, type, outcome, floor(random() * 8)::int, change
  FROM (
    SELECT NEW.org_id, NEW.created_at, NEW.type, NEW.outcome, 1 AS change
    UNION ALL
    SELECT OLD.org_id, OLD.created_at, OLD.type, OLD.outcome, -1 WHERE TG_OP = 'UPDATE'
  ) AS changes
  WHERE outcome <> 'pending'
  ON CONFLICT (org_id, day, type, outcome, shard)
    DO UPDATE SET count = webhook_attempt_counts.count + EXCLUDED.count;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER count_webhook_attempt AFTER INSERT OR UPDATE OF outcome ON webhook_attempts
FOR EACH ROW EXECUTE FUNCTION count_webhook_attempt();
