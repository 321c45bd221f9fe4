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

-- How common words are among `total` facts. A word of the planner's list of common words is counted by it; any other
-- is counted among what the role may read, up to `most`, so that nothing shows whether others have a rare word.
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
    SELECT jsonb_object_agg(lexeme, freq) INTO common
    FROM pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS listed (lexeme, freq)
    WHERE s.schemaname = 'clawmem' AND s.tablename = 'fact_' || of_org AND s.attname = 'text_search'
        AND freq * total > most AND lexeme = ANY (tsvector_to_array(to_tsvector('english', array_to_string(asked, ' '))));
    FOREACH word IN ARRAY asked LOOP
        SELECT max((common ->> lexeme)::double precision) INTO known
        FROM unnest(tsvector_to_array(to_tsvector('english', word))) AS lexeme;
        IF known IS NOT NULL THEN
            found := known * total;
        ELSE
            query := clawmem.word_query(word);
            SELECT count(*) INTO found FROM (
                SELECT FROM clawmem.fact f
                WHERE f.org = of_org AND f.text_search @@ query AND f.scopes && of_scopes LIMIT most
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
-- ranked: those with the rarest words, as far as they are not too many together.
CREATE FUNCTION clawmem.facts_by_words(asked text[], most integer, looked_at integer DEFAULT 4000)
RETURNS TABLE (vault text, id text, score double precision, share double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    of_org CONSTANT text := clawmem.my_org();
    of_scopes CONSTANT text[] := clawmem.my_scopes();
    words tsquery[];
    counts bigint[];
    weights double precision[];
    whole double precision;
    total bigint;
    together bigint := 0;
    narrow tsquery;
    narrow_words integer := 0;
    queries tsquery[] := '{}';
    query tsquery;
    at integer;
BEGIN
    SELECT array_agg(q ORDER BY place), array_agg(word ORDER BY place) INTO words, asked
    FROM unnest(asked) WITH ORDINALITY AS given (word, place), clawmem.word_query(word) AS q WHERE q IS NOT NULL;
    IF words IS NULL OR of_org IS NULL THEN
        RETURN;
    END IF;
    SELECT greatest(reltuples, 0) INTO total FROM pg_class
    WHERE oid = to_regclass(format('clawmem.%I', 'fact_' || of_org));
    IF total < looked_at THEN -- never analysed, or so few that counting costs little
        SELECT count(*) INTO total FROM (SELECT FROM clawmem.fact f WHERE f.org = of_org LIMIT 10 * looked_at) AS counted;
    END IF;
    counts := clawmem.word_counts(of_org, of_scopes, asked, total, greatest(2000, (total / 10)::integer));
    SELECT array_agg(ln(1 + (greatest(100 + total - n, 0) + 0.5) / (n + 0.5)) ORDER BY place),
           sum(ln(1 + (greatest(100 + total - n, 0) + 0.5) / (n + 0.5)))
    INTO weights, whole FROM unnest(counts) WITH ORDINALITY AS counted (n, place);

    -- From the rarest words to all: the first query with enough facts counts.
    FOR at IN SELECT place FROM unnest(counts) WITH ORDINALITY AS counted (n, place) WHERE n > 0 ORDER BY n LOOP
        IF narrow IS NOT NULL AND together + counts[at] > looked_at THEN
            EXIT;
        END IF;
        narrow := CASE WHEN narrow IS NULL THEN words[at] ELSE narrow || words[at] END;
        together := together + counts[at];
        narrow_words := narrow_words + 1;
    END LOOP;
    IF narrow IS NULL THEN
        RETURN;
    END IF;
    SELECT array_agg(w) INTO words FROM unnest(words, counts) AS each (w, n) WHERE n > 0;
    SELECT array_agg(w) INTO weights FROM unnest(weights, counts) AS each (w, n) WHERE n > 0;
    IF together > looked_at AND cardinality(words) > 1 THEN
        -- The rarest word alone is in too many: first those that have another one of the words, too.
        SELECT narrow && string_agg(w::text, ' | ')::tsquery INTO query FROM unnest(words) AS w WHERE w <> narrow;
        queries := ARRAY[query, narrow];
    ELSE
        queries := ARRAY[narrow];
    END IF;
    FOREACH query IN ARRAY queries LOOP
        RETURN QUERY
        WITH candidate AS MATERIALIZED (
            SELECT f.vault, f.id, f.text_search, length(f.text_search) AS size
            FROM clawmem.fact f
            WHERE f.org = of_org AND f.text_search @@ query AND f.scopes && of_scopes
                AND f.status IN ('active', 'archived')
            LIMIT looked_at
        ), average AS (
            SELECT greatest(avg(size), 1) AS size FROM candidate
        ), ranked AS (
            SELECT c.vault, c.id, c.size,
                   array(SELECT ts_rank('{0,0,0.6,1}', c.text_search, w) * (numnode(w) + 1) / 1.2158542 FROM unnest(words) AS w) AS had
            FROM candidate c
        )
        SELECT r.vault, r.id, summed.score * 2.2 / (1.3 + 0.9 * r.size / average.size), summed.share / whole
        FROM ranked r, average,
             LATERAL (
                 SELECT sum(weight * rank) AS score, sum(weight) FILTER (WHERE rank > 0) AS share
                 FROM unnest(r.had, weights) AS each (rank, weight)
             ) AS summed
        ORDER BY 3 DESC, 1, 2
        LIMIT most;
        EXIT WHEN FOUND;
    END LOOP;
END $$;

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

REVOKE ALL ON FUNCTION clawmem.enable_vectors, clawmem.word_query, clawmem.word_counts, clawmem.facts_by_words, clawmem.facts_by_meaning,
    clawmem.facts_by_relation, clawmem.facts_by_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION clawmem.facts_by_words, clawmem.facts_by_meaning, clawmem.facts_by_relation,
    clawmem.facts_by_time TO clawmem_worker, clawmem_member;
