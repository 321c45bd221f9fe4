-- Nothing of the hub looks into `public`, where others may make functions, operators and types.

-- What the schema was made of while `public` was in the path stays bound to it, so a hub with such a part is refused.
DO $$
DECLARE
    planted text;
BEGIN
    SELECT string_agg(DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0), ', ') INTO planted
    FROM pg_depend d, LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) AS part,
        LATERAL pg_identify_object(d.refclassid, d.refobjid, 0) AS used
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
        AND (part.schema = 'clawmem' OR part.identity LIKE '% on clawmem.%' OR part.identity LIKE '% for clawmem.%')
        AND used.schema NOT IN ('pg_catalog', 'clawmem')
        AND NOT EXISTS (SELECT FROM pg_depend e WHERE (e.classid, e.objid, e.deptype) = (d.refclassid, d.refobjid, 'e'));
    IF planted IS NOT NULL THEN
        RAISE EXCEPTION 'its schema uses what is not its own, so make it anew in another database: %', planted;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION clawmem.enable_vectors() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place text;
BEGIN
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'clawmem.fact'::regclass AND attname = 'embedding') THEN
        RETURN true;
    END IF;
    BEGIN
        CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA clawmem; -- a superuser may have it elsewhere
        SELECT extnamespace::regnamespace INTO place FROM pg_extension WHERE extname = 'vector';
        EXECUTE format('ALTER TABLE clawmem.fact ADD COLUMN embedding %s.halfvec(384)', place);
    EXCEPTION
        WHEN undefined_file OR feature_not_supported OR insufficient_privilege OR undefined_object THEN
            RETURN false;
    END;
    CREATE INDEX fact_without_embedding ON clawmem.fact (org) WHERE embedding IS NULL;
    EXECUTE format('CREATE INDEX fact_embedding ON clawmem.fact USING hnsw (embedding %s.halfvec_cosine_ops)', place);
    RETURN true;
END $$;

-- The operator of the extension is named by the schema that the extension is in.
CREATE OR REPLACE FUNCTION clawmem.facts_by_meaning(meaning text, most integer)
RETURNS TABLE (vault text, id text, score double precision, share double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of_org CONSTANT text := clawmem.my_org();
    of_scopes CONSTANT text[] := clawmem.my_scopes();
    base double precision;
    distance text;
BEGIN
    SELECT format('(f.embedding OPERATOR(%1$s.<=>) $1::%1$s.halfvec)', extnamespace::regnamespace) INTO distance
    FROM pg_extension WHERE extname = 'vector';
    IF distance IS NULL THEN
        RETURN;
    END IF;
    -- The index is asked again until enough of what it gives is readable. Older versions do not know the setting.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true);
    EXECUTE format('SELECT sum(closeness) / (count(*) + 20) FROM (
        SELECT 1 - %s AS closeness FROM clawmem.fact f
        WHERE f.org = $2 AND f.scopes && $3 AND f.embedding IS NOT NULL LIMIT 200
    ) AS taken', distance) INTO base USING meaning, of_org, of_scopes;
    RETURN QUERY EXECUTE format('SELECT n.vault, n.id, n.closeness - $5, NULL::double precision FROM (
        SELECT f.vault, f.id, 1 - %1$s AS closeness FROM clawmem.fact f
        WHERE f.org = $2 AND f.scopes && $3 AND f.status IN (''active'', ''archived'') AND f.embedding IS NOT NULL
        ORDER BY %1$s LIMIT $4
    ) AS n WHERE n.closeness > $5', distance) USING meaning, of_org, of_scopes, most, base;
END $$;

-- As before, but each row is read once: a place in a table (`ctid`) names a row only within one partition, and a second
-- reading by it did not compare the scopes.
CREATE OR REPLACE FUNCTION clawmem.ranked_by_words(
    of_org text, of_scopes text[], asked text[], most integer, looked_at integer
)
RETURNS TABLE (vault text, id text, score double precision, share double precision)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    enough CONSTANT integer := 20;
    words tsquery[];
    counts bigint[];
    weights double precision[];
    whole double precision;
    total bigint;
    together bigint := 0;
    place integer;
    rare tsquery;
    every tsquery; -- all of the common words
    rarest tsquery; -- of the common words
    step tsquery;
    vaults text[] := '{}';
    ids text[] := '{}';
    texts tsvector[] := '{}';
BEGIN
    SELECT array_agg(q ORDER BY place_of), array_agg(word ORDER BY place_of) INTO words, asked
    FROM unnest(asked) WITH ORDINALITY AS given (word, place_of), clawmem.word_query(word) AS q WHERE q IS NOT NULL;
    IF words IS NULL OR of_org IS NULL THEN
        RETURN;
    END IF;
    SELECT sum(greatest(c.reltuples, 0)) INTO total
    FROM pg_partition_tree(to_regclass(format('clawmem.%I', 'fact_' || of_org))) AS part
    JOIN pg_class c ON c.oid = part.relid WHERE part.isleaf;
    IF total < 10 * looked_at THEN -- never analysed, or so few that counting costs little
        SELECT count(*) INTO total FROM (
            SELECT FROM clawmem.fact f WHERE f.org = of_org AND (f.scopes && of_scopes) IS TRUE LIMIT 10 * looked_at
        ) AS counted;
    END IF;
    counts := clawmem.word_counts(of_org, of_scopes, asked, total, 2 * looked_at);
    SELECT array_agg(weight ORDER BY place_of), sum(weight) INTO weights, whole
    FROM unnest(counts) WITH ORDINALITY AS counted (n, place_of),
         ln(1 + (greatest(100 + total - n, 0) + 0.5) / (n + 0.5)) AS weight;

    FOR place IN
        SELECT place_of FROM unnest(counts) WITH ORDINALITY AS counted (n, place_of) WHERE n > 0 ORDER BY n
    LOOP
        together := together + counts[place];
        IF together <= looked_at THEN
            rare := coalesce(rare || words[place], words[place]);
        ELSE
            rarest := coalesce(rarest, words[place]);
            every := coalesce(every && words[place], words[place]);
        END IF;
    END LOOP;
    FOREACH step IN ARRAY array_remove(ARRAY[rare, every, rarest], NULL) LOOP
        -- `IS TRUE` keeps the planner from reading the index of scopes, whose lists are long.
        SELECT vaults || coalesce(array_agg(f.vault), '{}'), ids || coalesce(array_agg(f.id), '{}'),
               texts || coalesce(array_agg(f.text_search), '{}')
        INTO vaults, ids, texts FROM (
            SELECT f.vault, f.id, f.text_search FROM clawmem.fact f
            WHERE f.org = of_org AND f.text_search @@ step AND (f.scopes && of_scopes) IS TRUE
                AND f.status IN ('active', 'archived')
            LIMIT looked_at
        ) AS f;
        EXIT WHEN cardinality(ids) >= enough;
    END LOOP;
    RETURN QUERY
    WITH candidate AS MATERIALIZED (
        SELECT DISTINCT ON (f.vault, f.id) f.vault, f.id, f.text_search, length(f.text_search) AS size
        FROM unnest(vaults, ids, texts) AS f (vault, id, text_search)
    ), average AS (
        SELECT greatest(avg(size), 1) AS size FROM candidate
    )
    SELECT c.vault, c.id, summed.score * 2.2 / (1.3 + 0.9 * c.size / average.size), summed.share / whole
    FROM candidate c, average,
         LATERAL (
             SELECT sum(weight * rank) AS score, sum(weight) FILTER (WHERE rank > 0) AS share
             FROM unnest(words, weights) AS each (word, weight),
                  LATERAL (SELECT ts_rank('{0,0,0.6,1}', c.text_search, word) * (numnode(word) + 1) / 1.2158542)
                      AS ranked (rank)
         ) AS summed
    ORDER BY 3 DESC, 1, 2
    LIMIT most;
END $$;

-- Whether others see a promotion of the fact only after a person approved it: it reads as an order, or is an agent's.
-- The intake judges it, and `hub init` what was there before. What nobody judged waits.
ALTER TABLE clawmem.fact ADD COLUMN waits boolean;

-- As before, but a fact that `waits` is decided about by a person wherever somebody else reads the scope, too.
CREATE OR REPLACE FUNCTION clawmem.ask_promotion(
    of_vault text, of_fact text, in_scope text, judged text, verdicts jsonb
)
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
    SELECT o.review OR (held.waits IS NOT FALSE AND EXISTS (
        SELECT FROM clawmem.account a
        WHERE a.org = mine AND a.role_name <> session_user AND (
            EXISTS (SELECT FROM clawmem.scope s WHERE s.org = mine AND s.scope = in_scope AND s.kind = 'organisation')
            OR EXISTS (SELECT FROM clawmem.member m
                       WHERE m.org = mine AND m.role_name = a.role_name AND m.scope = in_scope)
        )
    )) INTO waits FROM clawmem.organisation o WHERE o.org = mine;
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
