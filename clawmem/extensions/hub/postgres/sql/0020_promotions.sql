-- Promotions: members ask to share a fact with a broader scope, and reviewers decide.
--
-- Members have no right to write tables. These functions run as the owner, whose policies see everything, so each of
-- them filters by the organisation, the scopes and the rights of the session's role itself.

-- One row for each request that is open or in force.
CREATE UNIQUE INDEX promotion_in_force ON clawmem.promotion (org, vault, fact, scope)
    WHERE status IN ('pending', 'approved');

-- Facts are asked for by their id alone, too.
CREATE INDEX fact_id ON clawmem.fact (org, id);

-- Ask to share a fact of a vault whose scope the role reads: who sees it by a promotion only cannot promote it further.
-- `judged` is the statement that the gates judged: the hub must hold the same one.
-- The answer is the promotion, its status, and whether it is new. A refusal is an exception with SQLSTATE P0001.
CREATE FUNCTION clawmem.ask_promotion(of_vault text, of_fact text, in_scope text, judged text, verdicts jsonb)
RETURNS TABLE (number bigint, state text, is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mine CONSTANT text := clawmem.my_org();
    held clawmem.fact;
    waits boolean;
BEGIN
    IF NOT clawmem.may('promote', in_scope) THEN
        RAISE EXCEPTION 'this role may not promote into the scope %', in_scope
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- The vault first, as `share_fact` locks it: a worker must not change the fact meanwhile.
    PERFORM FROM clawmem.vault v
    WHERE v.org = mine AND v.vault = of_vault AND v.vault = ANY (clawmem.my_vaults()) FOR UPDATE;
    IF FOUND THEN
        SELECT f.* INTO held FROM clawmem.fact f WHERE f.org = mine AND f.vault = of_vault AND f.id = of_fact;
    END IF;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the hub has no fact % of this vault', of_fact USING ERRCODE = 'P0001';
    ELSIF held.status <> 'active' THEN
        RAISE EXCEPTION 'at the hub, % is %', of_fact, held.status USING ERRCODE = 'P0001';
    ELSIF held.claim <> judged THEN
        RAISE EXCEPTION 'the hub has another statement of %', of_fact USING ERRCODE = 'P0001';
    ELSIF held.scope = in_scope THEN
        RAISE EXCEPTION 'the vault of % belongs to the scope %, whose members see it', of_fact, in_scope
            USING ERRCODE = 'P0001';
    END IF;
    SELECT o.review INTO waits FROM clawmem.organisation o WHERE o.org = mine;
    INSERT INTO clawmem.promotion (org, vault, fact, scope, status, gates, decided_by, decided_at)
    VALUES (mine, of_vault, of_fact, in_scope, CASE WHEN waits THEN 'pending' ELSE 'approved' END, verdicts,
            CASE WHEN waits THEN NULL ELSE session_user END, CASE WHEN waits THEN NULL ELSE now() END)
    ON CONFLICT (org, vault, fact, scope) WHERE status IN ('pending', 'approved') DO NOTHING;
    is_new := FOUND;
    IF is_new AND NOT waits THEN
        PERFORM clawmem.share_fact(mine, of_vault, of_fact, in_scope, true);
    END IF;
    SELECT p.seq, p.status INTO number, state FROM clawmem.promotion p
    WHERE p.org = mine AND p.vault = of_vault AND p.fact = of_fact AND p.scope = in_scope
        AND p.status IN ('pending', 'approved');
    RETURN NEXT;
END $$;

-- What a reviewer sees of the promotions into the scopes where the role may review, or promote itself. The statement of
-- a fact that is not shared yet is shown to those who decide about it; after that, only to those who read the fact, since
-- its vault may have changed it.
CREATE FUNCTION clawmem.promotions_to_decide(wanted_status text)
RETURNS TABLE (number bigint, vault text, fact text, scope text, state text, gates jsonb, reason text,
               asked_by text, asked_at timestamptz, entity text, claim text, author text, may_decide boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.seq, p.vault, p.fact, p.scope, p.status, p.gates, p.reason, p.asked_by, p.asked_at,
           CASE WHEN shown.it THEN f.entity ELSE '' END, CASE WHEN shown.it THEN f.claim ELSE '' END,
           CASE WHEN shown.it THEN f.author ELSE '' END, clawmem.may('review', p.scope)
    FROM clawmem.promotion p
    JOIN clawmem.fact f ON f.org = p.org AND f.vault = p.vault AND f.id = p.fact
    CROSS JOIN LATERAL (SELECT p.status IN ('pending', 'approved') OR f.scopes && clawmem.my_scopes()) AS shown (it)
    WHERE p.org = clawmem.my_org() AND p.status = wanted_status
        AND (clawmem.may('review', p.scope) OR p.asked_by = session_user)
    ORDER BY p.seq
$$;

-- Decide about a promotion. Rejecting an approved one takes the fact away from the scope again.
CREATE FUNCTION clawmem.decide_promotion(wanted_number bigint, approved boolean, why text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mine CONSTANT text := clawmem.my_org();
    one clawmem.promotion;
    fact_status text;
    decided text;
BEGIN
    SELECT p.* INTO one FROM clawmem.promotion p WHERE p.org = mine AND p.seq = wanted_number;
    IF NOT FOUND OR NOT (clawmem.may('review', one.scope) OR one.asked_by = session_user) THEN
        RAISE EXCEPTION 'there is no promotion % that this role sees', wanted_number USING ERRCODE = 'P0002';
    ELSIF NOT clawmem.may('review', one.scope) THEN
        RAISE EXCEPTION 'this role may not review the scope %', one.scope USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM FROM clawmem.vault v WHERE v.org = mine AND v.vault = one.vault FOR UPDATE;
    SELECT p.* INTO one FROM clawmem.promotion p WHERE p.org = mine AND p.seq = wanted_number FOR UPDATE;
    SELECT f.status INTO fact_status FROM clawmem.fact f WHERE f.org = mine AND f.vault = one.vault AND f.id = one.fact;
    IF one.status = 'pending' THEN
        decided := CASE WHEN approved THEN 'approved' ELSE 'rejected' END;
    ELSIF one.status = 'approved' AND NOT approved THEN
        decided := 'withdrawn';
    ELSIF one.status = 'approved' OR NOT approved THEN
        RETURN one.status; -- decided so before
    ELSE
        RAISE EXCEPTION 'the promotion % was % before', wanted_number, one.status USING ERRCODE = 'P0001';
    END IF;
    IF decided = 'approved' AND fact_status IS DISTINCT FROM 'active' THEN
        RAISE EXCEPTION 'the fact % is %', one.fact, coalesce(fact_status, 'gone') USING ERRCODE = 'P0001';
    END IF;
    UPDATE clawmem.promotion p SET status = decided, reason = why, decided_by = session_user, decided_at = now()
    WHERE p.org = mine AND p.seq = wanted_number;
    IF decided <> 'rejected' THEN
        PERFORM clawmem.share_fact(mine, one.vault, one.fact, one.scope, decided = 'approved');
    END IF;
    RETURN decided;
END $$;

-- Withdraw the promotions of a fact: for the role that asked, for those who may promote from the vault's scope, and for
-- those who see the whole vault. Returns how many there were.
CREATE FUNCTION clawmem.withdraw_promotions(of_vault text, of_fact text, why text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mine CONSTANT text := clawmem.my_org();
    one record;
    withdrawn bigint := 0;
BEGIN
    PERFORM FROM clawmem.vault v WHERE v.org = mine AND v.vault = of_vault FOR UPDATE;
    FOR one IN
        SELECT p.seq, p.scope, p.status FROM clawmem.promotion p
        WHERE p.org = mine AND p.vault = of_vault AND p.fact = of_fact AND p.status IN ('pending', 'approved')
            AND (p.asked_by = session_user OR of_vault = ANY (clawmem.my_vaults()) AND clawmem.may('promote', p.scope))
        FOR UPDATE
    LOOP
        UPDATE clawmem.promotion p
        SET status = 'withdrawn', reason = why, decided_by = session_user, decided_at = now()
        WHERE p.org = mine AND p.seq = one.seq;
        PERFORM clawmem.share_fact(mine, of_vault, of_fact, one.scope, false);
        withdrawn := withdrawn + 1;
    END LOOP;
    RETURN withdrawn;
END $$;

-- Which of some facts were redacted, for those who may hold a copy: facts of a vault whose scope the role reads, and
-- those that were shared with one of its scopes at any time. Neither a row nor a text of others is shown.
CREATE FUNCTION clawmem.redacted_among(of_vaults text[], of_facts text[]) RETURNS TABLE (vault text, fact text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT asked.vault, asked.fact FROM unnest(of_vaults, of_facts) AS asked (vault, fact)
    WHERE (
        asked.vault = ANY ((SELECT clawmem.my_vaults())::text[]) OR EXISTS (
            SELECT FROM clawmem.log l
            WHERE l.org = clawmem.my_org() AND l.vault = asked.vault AND l.subject = asked.fact AND l.kind = 'shared'
                AND l.body ->> 'scope' = ANY ((SELECT clawmem.my_scopes())::text[])
        )
    ) AND (EXISTS (
        SELECT FROM clawmem.log l
        WHERE l.org = clawmem.my_org() AND l.vault = asked.vault AND l.subject = asked.fact AND l.emptied
    ) OR EXISTS (
        SELECT FROM clawmem.fact f
        WHERE f.org = clawmem.my_org() AND f.vault = asked.vault AND f.id = asked.fact
            AND f.record -> 'metadata' ? 'redacted'
    ))
$$;

-- Which vault at the hub the caller's own one is: the one with one of its addresses, whose head is one of its commits, or
-- that has its head. The commits that it began with say nothing: vaults may be made from one template.
CREATE FUNCTION clawmem.my_own_vaults(addresses text[], commits text[], last_commit text)
RETURNS TABLE (vault text, scope text, taken_at timestamptz, certainty integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT * FROM (
        SELECT v.vault, v.scope, v.taken_at,
               2 * (v.address = ANY (addresses))::integer
               + (v.head = ANY (commits)
                  OR EXISTS (SELECT FROM clawmem.taken_commit t
                             WHERE t.org = v.org AND t.vault = v.vault AND t.commit = last_commit))::integer
        FROM clawmem.vault v
        WHERE v.org = clawmem.my_org() AND v.vault = ANY (clawmem.my_vaults())
    ) AS judged (vault, scope, taken_at, certainty)
    WHERE certainty > 0 ORDER BY certainty DESC, vault
$$;

-- A fact that ended in its vault, or that says something else now, is shared with nobody, and its promotions are over:
-- nobody judged the new statement. A deleted row says nothing: a worker that follows a rewritten history deletes all rows
-- of a vault and writes them again (`take_in_again` ends promotions then).
CREATE FUNCTION clawmem.end_promotions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one record;
    why CONSTANT text := CASE
        WHEN NEW.status = 'superseded' THEN 'its vault superseded the fact'
        WHEN NEW.status = 'retracted' OR NEW.record -> 'metadata' ? 'redacted' THEN 'its vault withdrew the fact'
        ELSE 'its vault changed the statement'
    END;
BEGIN
    FOR one IN
        SELECT p.seq, p.scope FROM clawmem.promotion p
        WHERE p.org = OLD.org AND p.vault = OLD.vault AND p.fact = OLD.id AND p.status IN ('pending', 'approved')
    LOOP
        UPDATE clawmem.promotion p
        SET status = 'withdrawn', reason = why, decided_at = now()
        WHERE p.org = OLD.org AND p.seq = one.seq;
        PERFORM clawmem.share_fact(OLD.org, OLD.vault, OLD.id, one.scope, false);
    END LOOP;
    RETURN NULL;
END $$;
-- At the end of the transaction, so that the log has it behind what the transaction itself says.
CREATE CONSTRAINT TRIGGER fact_ends AFTER UPDATE ON clawmem.fact
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (
        NEW.status IN ('superseded', 'retracted') AND OLD.status IS DISTINCT FROM NEW.status
        OR NEW.record -> 'metadata' ? 'redacted'
        OR (NEW.entity, NEW.record ->> 'fact', NEW.record ->> 'subject', NEW.record ->> 'predicate',
            NEW.record ->> 'object', NEW.record ->> 'relation_phrase', NEW.record ->> 'category',
            NEW.record ->> 'valid_from', NEW.record ->> 'valid_to')
        IS DISTINCT FROM
           (OLD.entity, OLD.record ->> 'fact', OLD.record ->> 'subject', OLD.record ->> 'predicate',
            OLD.record ->> 'object', OLD.record ->> 'relation_phrase', OLD.record ->> 'category',
            OLD.record ->> 'valid_from', OLD.record ->> 'valid_to')
    )
    EXECUTE FUNCTION clawmem.end_promotions();

-- A request that waits, or that was rejected, is seen by the vault's scope, by who asked, and by those who may decide it.
ALTER POLICY member ON clawmem.promotion USING (
    org = (SELECT clawmem.my_org()) AND (
        vault = ANY ((SELECT clawmem.my_vaults())::text[])
        OR asked_by = session_user
        OR status = 'approved' AND scope = ANY ((SELECT clawmem.my_scopes())::text[])
        OR clawmem.may('review', scope)
    )
);

REVOKE ALL ON FUNCTION clawmem.ask_promotion, clawmem.promotions_to_decide, clawmem.decide_promotion,
    clawmem.withdraw_promotions, clawmem.redacted_among, clawmem.my_own_vaults, clawmem.end_promotions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION clawmem.ask_promotion, clawmem.promotions_to_decide, clawmem.decide_promotion,
    clawmem.withdraw_promotions, clawmem.redacted_among, clawmem.my_own_vaults TO clawmem_member;
