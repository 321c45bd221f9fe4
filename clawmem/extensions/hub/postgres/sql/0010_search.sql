-- Search: candidates by words, meaning, relation and time, each with a limit, among what the asking role may read.
--
-- The functions run as the owner of the tables: under row-level security PostgreSQL does not use the index of words,
-- because `@@` is not leakproof. So each of them compares the scopes itself.

CREATE INDEX fact_relation ON clawmem.fact (org, predicate, lower(subject));
CREATE INDEX fact_time ON clawmem.fact (org, timestamp);
-- Planner statistics say how common the common words are, without a scan.
ALTER TABLE clawmem.fact ALTER COLUMN text_search SET STATISTICS 500;

-- Vectors of 384 dimensions, where the extension `vector` can be had. True if they are there; `hub init` asks again.
CREATE FUNCTION clawmem.enable_vectors() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'clawmem.fact'::regclass AND attname = 'embedding') THEN
        RETURN true;
    END IF;
    BEGIN
        CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
        ALTER TABLE clawmem.fact ADD COLUMN embedding public.halfvec(384);
    EXCEPTION
        WHEN undefined_file OR feature_not_supported OR insufficient_privilege OR undefined_object THEN
            RETURN false;
    END;
    CREATE INDEX fact_without_embedding ON clawmem.fact (org) WHERE embedding IS NULL;
    CREATE INDEX fact_embedding ON clawmem.fact USING hnsw (embedding public.halfvec_cosine_ops);
    RETURN true;
END $$;
SELECT clawmem.enable_vectors();

-- What finds a word in any of its forms, which stand side by side in the text. Null for words that are never indexed.
CREATE FUNCTION clawmem.word_query(forms text) RETURNS tsquery
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery
    FROM unnest(tsvector_to_array(to_tsvector('english', forms))) AS lexeme
$$;

-- In how many of the organisation's `total` facts words are, up to `most`. A word that the planner lists with more than
-- half of that is taken as common; any other is counted among what the role may read, so that nothing shows whether
-- others have a rare word.
CREATE FUNCTION clawmem.word_counts(of_org text, of_scopes text[], asked text[], total bigint, most integer)
RETURNS bigint[] LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    common jsonb;
    word text;
    query tsquery;
    known double precision;
    found bigint;
    counts bigint[] := '{}';
BEGIN
    SELECT jsonb_object_agg(lexeme, freq * total) INTO common
    FROM pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS listed (lexeme, freq)
    WHERE s.schemaname = 'clawmem' AND s.tablename = 'fact_' || of_org AND s.attname = 'text_search'
        AND freq * total > most / 2
        AND lexeme = ANY (tsvector_to_array(to_tsvector('english', array_to_string(asked, ' '))));
    FOREACH word IN ARRAY asked LOOP
        SELECT sum((common ->> lexeme)::double precision) INTO known
        FROM unnest(tsvector_to_array(to_tsvector('english', word))) AS lexeme;
        IF known IS NOT NULL THEN
            found := known;
        ELSE
            query := clawmem.word_query(word);
            SELECT count(*) INTO found FROM (
                SELECT FROM clawmem.fact f
                WHERE f.org = of_org AND f.text_search @@ query AND (f.scopes && of_scopes) IS TRUE LIMIT most
            ) AS counted;
        END IF;
        counts := counts || found;
    END LOOP;
    RETURN counts;
END $$;

-- The facts that share words with a question, best first. `asked` has each word with its other forms, side by side.
--
-- `score` is BM25 (Robertson and Zaragoza 2009, k1 = 1.2, b = .75) as for a word that is there once, times what ts_rank
-- says of how often it is there: 1 for once, more for several times. (ts_rank divides by the number of forms.)
-- `share` is the part of the question's words that the fact has, by the same weights. At most `looked_at` facts are
-- taken from each step: those with one of the rare words; if these are few, those with all common words, and then those
-- with the rarest of them.
CREATE FUNCTION clawmem.ranked_by_words(
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
    steps tsquery[];
    step tsquery;
    candidates tid[] := '{}';
BEGIN
    SELECT array_agg(q ORDER BY place_of), array_agg(word ORDER BY place_of) INTO words, asked
    FROM unnest(asked) WITH ORDINALITY AS given (word, place_of), clawmem.word_query(word) AS q WHERE q IS NOT NULL;
    IF words IS NULL OR of_org IS NULL THEN
        RETURN;
    END IF;
    SELECT greatest(reltuples, 0) INTO total FROM pg_class
    WHERE oid = to_regclass(format('clawmem.%I', 'fact_' || of_org));
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
    steps := array_remove(ARRAY[rare, every, rarest], NULL);
    FOREACH step IN ARRAY steps LOOP
        -- `IS TRUE` keeps the planner from reading the index of scopes, whose lists are long.
        SELECT candidates || coalesce(array_agg(f.place), '{}') INTO candidates FROM (
            SELECT f.ctid AS place FROM clawmem.fact f
            WHERE f.org = of_org AND f.text_search @@ step AND (f.scopes && of_scopes) IS TRUE
                AND f.status IN ('active', 'archived')
            LIMIT looked_at
        ) AS f;
        EXIT WHEN cardinality(candidates) >= enough;
    END LOOP;
    RETURN QUERY
    WITH candidate AS MATERIALIZED (
        SELECT f.vault, f.id, f.text_search, length(f.text_search) AS size
        FROM clawmem.fact f WHERE f.org = of_org AND f.ctid = ANY (candidates) -- of one partition, in one snapshot
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

-- The same among what the asking role may read. The number of facts looked at is not the caller's: with a small one, the
-- planner's list, which knows the words of all facts, would tell which rare words others have.
CREATE FUNCTION clawmem.facts_by_words(asked text[], most integer)
RETURNS TABLE (vault text, id text, score double precision, share double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT * FROM clawmem.ranked_by_words(clawmem.my_org(), clawmem.my_scopes(), asked, most, 2000)
$$;

-- The facts whose meaning is closest to a vector. `score` is the cosine above that of facts taken without a choice, with
-- which some unrelated ones are counted, so that the average of a few facts says no more than it does.
CREATE FUNCTION clawmem.facts_by_meaning(meaning text, most integer)
RETURNS TABLE (vault text, id text, score double precision, share double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    of_org CONSTANT text := clawmem.my_org();
    of_scopes CONSTANT text[] := clawmem.my_scopes();
    base double precision;
BEGIN
    -- The index is asked again until enough of what it gives is readable. Older versions do not know the setting.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true);
    SELECT sum(closeness) / (count(*) + 20) INTO base FROM (
        SELECT 1 - (f.embedding <=> meaning::halfvec) AS closeness FROM clawmem.fact f
        WHERE f.org = of_org AND f.scopes && of_scopes AND f.embedding IS NOT NULL LIMIT 200
    ) AS taken;
    RETURN QUERY
    SELECT n.vault, n.id, n.closeness - base, NULL::double precision FROM (
        SELECT f.vault, f.id, 1 - (f.embedding <=> meaning::halfvec) AS closeness FROM clawmem.fact f
        WHERE f.org = of_org AND f.scopes && of_scopes AND f.status IN ('active', 'archived')
            AND f.embedding IS NOT NULL
        ORDER BY f.embedding <=> meaning::halfvec LIMIT most
    ) AS n WHERE n.closeness > base;
END $$;

-- The facts with one of some relations and one of some subjects, which are in lower case.
CREATE FUNCTION clawmem.facts_by_relation(relations text[], subjects text[], most integer)
RETURNS TABLE (vault text, id text, score double precision, share double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    of_org CONSTANT text := clawmem.my_org();
    of_scopes CONSTANT text[] := clawmem.my_scopes();
BEGIN
    RETURN QUERY
    SELECT f.vault, f.id, length(f.subject)::double precision, NULL::double precision FROM clawmem.fact f
    WHERE f.org = of_org AND f.predicate = ANY (relations) AND lower(f.subject) = ANY (subjects)
        AND f.scopes && of_scopes AND f.status IN ('active', 'archived')
    LIMIT most;
END $$;

-- The facts that began or were recorded in some days, newest first.
CREATE FUNCTION clawmem.facts_by_time(first date, last date, most integer)
RETURNS TABLE (vault text, id text, score double precision, share double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    of_org CONSTANT text := clawmem.my_org();
    of_scopes CONSTANT text[] := clawmem.my_scopes();
BEGIN
    RETURN QUERY
    SELECT f.vault, f.id, 1::double precision, NULL::double precision FROM clawmem.fact f
    WHERE f.org = of_org AND f.timestamp >= first AND f.timestamp < last + 1
        AND f.scopes && of_scopes AND f.status IN ('active', 'archived')
    ORDER BY f.timestamp DESC LIMIT most;
END $$;

REVOKE ALL ON FUNCTION clawmem.enable_vectors, clawmem.word_query, clawmem.word_counts, clawmem.ranked_by_words,
    clawmem.facts_by_words, clawmem.facts_by_meaning,
    clawmem.facts_by_relation, clawmem.facts_by_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION clawmem.facts_by_words, clawmem.facts_by_meaning, clawmem.facts_by_relation,
    clawmem.facts_by_time TO clawmem_worker, clawmem_member;
