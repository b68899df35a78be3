-- Refuses the whole transaction when as many rows exist as there may be: a batch cannot branch.
CREATE FUNCTION refuse_at_ceiling(counted bigint, ceiling bigint, name text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF counted >= ceiling THEN
    RAISE EXCEPTION 'ceiling reached' USING ERRCODE = 'SV001', CONSTRAINT = name;
  END IF;
END $$;
