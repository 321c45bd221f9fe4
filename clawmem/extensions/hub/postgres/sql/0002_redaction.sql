-- After a redaction the name of what a row of the log is about goes, too, where the new history does not have it.
CREATE OR REPLACE FUNCTION clawmem.refuse_log_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND current_setting('clawmem.emptying', true) = 'on' AND NEW.body IS NULL AND NEW.emptied
        AND NEW.subject IN (OLD.subject, '')
        AND (NEW.org, NEW.seq, NEW.vault, NEW.epoch, NEW.at, NEW.kind)
            = (OLD.org, OLD.seq, OLD.vault, OLD.epoch, OLD.at, OLD.kind)
        AND NEW.commit IS NOT DISTINCT FROM OLD.commit
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the log of the hub only grows' USING ERRCODE = 'insufficient_privilege';
END $$;

-- Empty what the log has of a vault from before its present epoch, and what its rewritten history does not have.
-- A decision of the organisation (`shared`, `unshared`) has nothing of the history in it.
CREATE FUNCTION clawmem.empty_rewritten(of_org text, of_vault text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    emptied_rows bigint;
    now_in integer;
BEGIN
    SELECT v.epoch INTO now_in FROM clawmem.vault v WHERE v.org = of_org AND v.vault = of_vault;
    PERFORM set_config('clawmem.emptying', 'on', true);
    WITH present AS MATERIALIZED (
        SELECT DISTINCT kind, CASE WHEN kind = 'commit' THEN '' ELSE subject END AS subject,
               body - 'parents' AS body
        FROM clawmem.log WHERE org = of_org AND vault = of_vault AND epoch = now_in
    ), names AS MATERIALIZED (
        SELECT DISTINCT kind, subject FROM present
    ), gone AS MATERIALIZED (
        SELECT l.seq, l.kind <> 'commit' AND NOT EXISTS (
            SELECT FROM names n WHERE n.kind = l.kind AND n.subject = l.subject) AS unnamed
        FROM clawmem.log l
        LEFT JOIN present p ON p.kind = l.kind
            AND p.subject = CASE WHEN l.kind = 'commit' THEN '' ELSE l.subject END
            AND p.body = l.body - 'parents'
        WHERE l.org = of_org AND l.vault = of_vault AND l.epoch < now_in AND NOT l.emptied
            AND l.kind IN ('commit', 'fact', 'fact-gone', 'entity', 'entity-gone', 'unreadable') AND p.kind IS NULL
    )
    UPDATE clawmem.log l
    SET body = NULL, emptied = true, subject = CASE WHEN gone.unnamed THEN '' ELSE l.subject END
    FROM gone WHERE l.org = of_org AND l.seq = gone.seq;
    GET DIAGNOSTICS emptied_rows = ROW_COUNT;
    PERFORM set_config('clawmem.emptying', 'off', true);
    INSERT INTO clawmem.log (org, vault, epoch, kind, subject, body)
    SELECT of_org, of_vault, now_in, 'emptied', of_vault, jsonb_build_object('rows', emptied_rows)
    WHERE emptied_rows > 0;
    -- What the gates wrote about a fact may repeat it.
    UPDATE clawmem.promotion p
    SET gates = '{}',
        reason = CASE WHEN f.id IS NULL AND p.status IN ('pending', 'approved') THEN 'its vault removed the fact' END,
        status = CASE WHEN f.id IS NULL AND p.status IN ('pending', 'approved') THEN 'withdrawn' ELSE p.status END
    FROM clawmem.promotion q LEFT JOIN clawmem.fact f ON f.org = q.org AND f.vault = q.vault AND f.id = q.fact
    WHERE p.org = of_org AND p.vault = of_vault AND q.org = p.org AND q.seq = p.seq;
    RETURN emptied_rows;
END $$;

DROP FUNCTION clawmem.empty_bodies;
REVOKE ALL ON FUNCTION clawmem.empty_rewritten FROM PUBLIC;
GRANT EXECUTE ON FUNCTION clawmem.empty_rewritten TO clawmem_worker;
