-- The tables of the hub, one partition for each organisation, and who may see which row.
--
-- A login role belongs to one organisation (`account`) and reads the scopes that were granted to it (`member`), and
-- the scopes of kind `organisation`. Policies ask `session_user`, which no client can set.

-- Groups of the whole server. Login roles get them from `hub user add`.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['clawmem_worker', 'clawmem_member'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL; -- another database of the server made it meanwhile
        END;
    END LOOP;
END $$;

CREATE TABLE clawmem.organisation (
    org text PRIMARY KEY CHECK (org ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'),
    name text NOT NULL,
    review boolean NOT NULL DEFAULT false, -- promotions wait for a person
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE clawmem.scope (
    org text NOT NULL REFERENCES clawmem.organisation,
    scope text NOT NULL CHECK (scope ~ '^[a-z0-9]([a-z0-9._/-]{0,98}[a-z0-9])?$'),
    kind text NOT NULL CHECK (kind IN ('team', 'framework', 'organisation')),
    PRIMARY KEY (org, scope)
);

-- A login role and its one organisation.
CREATE TABLE clawmem.account (
    role_name text PRIMARY KEY,
    org text NOT NULL REFERENCES clawmem.organisation,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (org, role_name)
);

CREATE TABLE clawmem.member (
    org text NOT NULL,
    role_name text NOT NULL,
    scope text NOT NULL,
    may text[] NOT NULL DEFAULT '{read}' CHECK (may <@ ARRAY['read', 'promote', 'review'] AND 'read' = ANY (may)),
    PRIMARY KEY (org, role_name, scope),
    FOREIGN KEY (org, role_name) REFERENCES clawmem.account (org, role_name) ON DELETE CASCADE,
    FOREIGN KEY (org, scope) REFERENCES clawmem.scope
);

-- A vault is the work item of the workers: one locks the row while it takes commits in, and moves `head` with them.
CREATE TABLE clawmem.vault (
    org text NOT NULL,
    vault text NOT NULL,
    address text NOT NULL, -- the full URL of a git remote, or a folder on the machine of the worker
    scope text NOT NULL, -- whose members see everything of this vault
    head text, -- the last commit that was taken in
    epoch integer NOT NULL DEFAULT 1, -- grows when the history of the vault was rewritten
    added_at timestamptz NOT NULL DEFAULT now(),
    checked_at timestamptz, -- when a worker last looked for new commits
    taken_at timestamptz, -- when a worker last took commits in
    problem text, -- why the last look failed
    PRIMARY KEY (org, vault),
    UNIQUE (org, address),
    FOREIGN KEY (org, scope) REFERENCES clawmem.scope
);

CREATE SEQUENCE clawmem.log_seq;

-- Everything that was taken in or decided, in order for each vault. The other tables can be rebuilt from it.
CREATE TABLE clawmem.log (
    org text NOT NULL,
    seq bigint NOT NULL DEFAULT nextval('clawmem.log_seq'),
    vault text NOT NULL,
    epoch integer NOT NULL,
    commit text,
    at timestamptz NOT NULL DEFAULT now(),
    kind text NOT NULL,
    subject text NOT NULL, -- the id of a fact, the name of an entity, or the path of a file
    body jsonb, -- null where the kind needs none, or after a redaction
    emptied boolean NOT NULL DEFAULT false,
    PRIMARY KEY (org, seq)
) PARTITION BY LIST (org);
CREATE INDEX log_vault ON clawmem.log (org, vault, seq);
CREATE INDEX log_subject ON clawmem.log (org, subject);

CREATE TABLE clawmem.fact (
    org text NOT NULL,
    vault text NOT NULL,
    id text NOT NULL,
    scope text NOT NULL, -- of the vault
    scopes text[] NOT NULL, -- who sees the fact: the scope of the vault, and those it was promoted to
    entity text NOT NULL,
    claim text NOT NULL,
    category text NOT NULL,
    subject text,
    predicate text,
    object text,
    status text NOT NULL,
    confidence real,
    importance real,
    trust text,
    timestamp timestamptz NOT NULL, -- when it was observed
    valid_from text,
    valid_to text,
    source text NOT NULL,
    source_event text,
    agent text,
    workflow text,
    project text,
    reach text, -- the scope that the vault gives the fact: project, team, framework or organisation
    tags text[] NOT NULL DEFAULT '{}',
    superseded_by text,
    author text NOT NULL, -- of the commit, as `Name <address>`
    commit text NOT NULL, -- the commit that recorded this state of the fact
    path text NOT NULL, -- in that commit
    line integer NOT NULL, -- in that file, from 1
    recorded_at timestamptz NOT NULL, -- the time of the commit
    record jsonb NOT NULL, -- the fact as `items.json` has it
    promoted boolean GENERATED ALWAYS AS (cardinality(scopes) > 1) STORED,
    text_search tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('english'::regconfig, claim), 'A')
        || setweight(to_tsvector('english'::regconfig, translate(entity, '/-_@', '    ')), 'B')
    ) STORED,
    PRIMARY KEY (org, vault, id)
) PARTITION BY LIST (org);
CREATE INDEX fact_text ON clawmem.fact USING gin (text_search);
CREATE INDEX fact_entity ON clawmem.fact (org, entity);
CREATE INDEX fact_path ON clawmem.fact (org, vault, path);
CREATE INDEX fact_scopes ON clawmem.fact USING gin (scopes);

-- What facts refer to: facts by id, entities by name. It follows from `fact.record`.
CREATE TABLE clawmem.link (
    org text NOT NULL,
    vault text NOT NULL,
    fact text NOT NULL,
    type text NOT NULL,
    target text NOT NULL,
    scopes text[] NOT NULL, -- those of the fact
    reason text,
    PRIMARY KEY (org, vault, fact, type, target)
) PARTITION BY LIST (org);
CREATE INDEX link_target ON clawmem.link (org, target);

CREATE TABLE clawmem.entity (
    org text NOT NULL,
    vault text NOT NULL,
    entity text NOT NULL,
    title text NOT NULL,
    kind text NOT NULL,
    aliases text[] NOT NULL DEFAULT '{}',
    commit text NOT NULL,
    path text NOT NULL,
    PRIMARY KEY (org, vault, entity)
) PARTITION BY LIST (org);

CREATE TABLE clawmem.author (
    org text NOT NULL,
    vault text NOT NULL,
    author text NOT NULL, -- `Name <address>`
    commits bigint NOT NULL,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (org, vault, author)
) PARTITION BY LIST (org);

CREATE TABLE clawmem.taken_commit (
    org text NOT NULL,
    vault text NOT NULL,
    commit text NOT NULL,
    position bigint NOT NULL, -- from 1, in the order in which they were taken in
    parent text, -- the first one
    at timestamptz NOT NULL,
    author text NOT NULL,
    subject text NOT NULL,
    PRIMARY KEY (org, vault, commit),
    UNIQUE (org, vault, position)
) PARTITION BY LIST (org);

CREATE SEQUENCE clawmem.promotion_seq;

CREATE TABLE clawmem.promotion (
    org text NOT NULL,
    seq bigint NOT NULL DEFAULT nextval('clawmem.promotion_seq'),
    vault text NOT NULL,
    fact text NOT NULL,
    scope text NOT NULL, -- the broader scope that is asked for
    status text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'withdrawn')),
    gates jsonb NOT NULL DEFAULT '{}',
    reason text,
    asked_by text NOT NULL DEFAULT session_user,
    asked_at timestamptz NOT NULL DEFAULT now(),
    decided_by text,
    decided_at timestamptz,
    PRIMARY KEY (org, seq)
) PARTITION BY LIST (org);
CREATE INDEX promotion_fact ON clawmem.promotion (org, vault, fact);

-- The log only grows. A redaction may empty a body; it says so in the log (see `empty_bodies`).
CREATE FUNCTION clawmem.refuse_log_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND current_setting('clawmem.emptying', true) = 'on' AND NEW.body IS NULL AND NEW.emptied
        AND (NEW.org, NEW.seq, NEW.vault, NEW.epoch, NEW.at, NEW.kind, NEW.subject)
            = (OLD.org, OLD.seq, OLD.vault, OLD.epoch, OLD.at, OLD.kind, OLD.subject)
        AND NEW.commit IS NOT DISTINCT FROM OLD.commit
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the log of the hub only grows' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER log_only_grows BEFORE UPDATE OR DELETE ON clawmem.log
    FOR EACH ROW EXECUTE FUNCTION clawmem.refuse_log_change();
CREATE TRIGGER log_is_not_truncated BEFORE TRUNCATE ON clawmem.log
    FOR EACH STATEMENT EXECUTE FUNCTION clawmem.refuse_log_change();

-- Who asks. STABLE and without arguments, so that a query asks once, in `(SELECT ...)`.
CREATE FUNCTION clawmem.my_org() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT org FROM clawmem.account WHERE role_name = session_user
$$;

CREATE FUNCTION clawmem.my_scopes() RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(s.scope), '{}')
    FROM clawmem.account a JOIN clawmem.scope s ON s.org = a.org
    WHERE a.role_name = session_user AND (
        s.kind = 'organisation'
        OR EXISTS (SELECT FROM clawmem.member m
                   WHERE m.org = a.org AND m.role_name = a.role_name AND m.scope = s.scope)
    )
$$;

CREATE FUNCTION clawmem.my_vaults() RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(v.vault), '{}') FROM clawmem.vault v
    WHERE v.org = clawmem.my_org() AND v.scope = ANY (clawmem.my_scopes())
$$;

-- Whether the session's role was granted something in a scope: 'read', 'promote' or 'review'.
CREATE FUNCTION clawmem.may(wanted text, wanted_scope text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM clawmem.member m
                   WHERE m.role_name = session_user AND m.scope = wanted_scope AND wanted = ANY (m.may))
$$;

-- Give a fact to one more scope, or take it away, and say so in the log. For functions that checked the right to it.
CREATE FUNCTION clawmem.share_fact(of_org text, of_vault text, of_fact text, with_scope text, shared boolean)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text;
    now_in text[];
    wanted text[];
    vault_epoch integer;
BEGIN
    SELECT v.scope, v.epoch INTO own, vault_epoch FROM clawmem.vault v WHERE v.org = of_org AND v.vault = of_vault
    FOR UPDATE; -- a worker must not rewrite the vault meanwhile
    SELECT f.scopes INTO now_in FROM clawmem.fact f
    WHERE f.org = of_org AND f.vault = of_vault AND f.id = of_fact FOR UPDATE;
    IF now_in IS NULL OR with_scope = own OR (with_scope = ANY (now_in)) = shared THEN
        RETURN false;
    END IF;
    wanted := CASE WHEN shared THEN now_in || with_scope ELSE array_remove(now_in, with_scope) END;
    UPDATE clawmem.fact f SET scopes = wanted WHERE f.org = of_org AND f.vault = of_vault AND f.id = of_fact;
    UPDATE clawmem.link l SET scopes = wanted WHERE l.org = of_org AND l.vault = of_vault AND l.fact = of_fact;
    INSERT INTO clawmem.log (org, vault, epoch, kind, subject, body)
    VALUES (of_org, of_vault, vault_epoch, CASE WHEN shared THEN 'shared' ELSE 'unshared' END, of_fact,
            jsonb_build_object('scope', with_scope));
    PERFORM pg_notify('clawmem_changed', '');
    RETURN true;
END $$;

-- Make an organisation, its partitions, and its scope `organisation`. False where it was there.
CREATE FUNCTION clawmem.add_organisation(new_org text, new_name text, with_review boolean) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parent text;
BEGIN
    INSERT INTO clawmem.organisation (org, name, review) VALUES (new_org, new_name, with_review)
    ON CONFLICT (org) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO clawmem.scope VALUES (new_org, 'organisation', 'organisation');
    FOREACH parent IN ARRAY ARRAY['log', 'fact', 'link', 'entity', 'author', 'taken_commit', 'promotion'] LOOP
        EXECUTE format('CREATE TABLE clawmem.%I PARTITION OF clawmem.%I FOR VALUES IN (%L)',
                       parent || '_' || new_org, parent, new_org);
    END LOOP;
    RETURN true;
END $$;

-- Empty bodies of the log after a redaction. The row that says so is written with it.
CREATE FUNCTION clawmem.empty_bodies(of_org text, of_vault text, seqs bigint[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    emptied_rows bigint;
BEGIN
    PERFORM set_config('clawmem.emptying', 'on', true);
    UPDATE clawmem.log l SET body = NULL, emptied = true
    WHERE l.org = of_org AND l.vault = of_vault AND l.seq = ANY (seqs) AND NOT l.emptied;
    GET DIAGNOSTICS emptied_rows = ROW_COUNT;
    PERFORM set_config('clawmem.emptying', 'off', true);
    INSERT INTO clawmem.log (org, vault, epoch, kind, subject, body)
    SELECT of_org, of_vault, v.epoch, 'emptied', of_vault, jsonb_build_object('rows', emptied_rows)
    FROM clawmem.vault v WHERE v.org = of_org AND v.vault = of_vault AND emptied_rows > 0;
    RETURN emptied_rows;
END $$;

-- Rights. Members only read; what they change goes through functions that check `may`.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA clawmem FROM PUBLIC;
GRANT USAGE ON SCHEMA clawmem TO clawmem_worker, clawmem_member;
GRANT SELECT ON ALL TABLES IN SCHEMA clawmem TO clawmem_worker, clawmem_member;
GRANT INSERT, UPDATE, DELETE
    ON clawmem.fact, clawmem.link, clawmem.entity, clawmem.author, clawmem.taken_commit TO clawmem_worker;
GRANT INSERT ON clawmem.log TO clawmem_worker;
GRANT USAGE ON SEQUENCE clawmem.log_seq TO clawmem_worker;
GRANT UPDATE ON clawmem.vault, clawmem.promotion TO clawmem_worker;
GRANT EXECUTE ON FUNCTION clawmem.empty_bodies, clawmem.share_fact TO clawmem_worker;
GRANT EXECUTE ON FUNCTION clawmem.my_org, clawmem.my_scopes, clawmem.my_vaults, clawmem.may
    TO clawmem_worker, clawmem_member;

-- Row-level security, for the owner of the tables, too: it has a policy of its own, which the functions above use.
DO $$
DECLARE
    of_org CONSTANT text := 'org = (SELECT clawmem.my_org())';
    of_vault CONSTANT text := ' AND vault = ANY ((SELECT clawmem.my_vaults())::text[])';
    of_scopes CONSTANT text := ' AND scopes && (SELECT clawmem.my_scopes())';
    one record;
BEGIN
    FOR one IN SELECT * FROM (VALUES
        ('organisation', ''),
        ('scope', ''),
        ('account', ' AND role_name = session_user'),
        ('member', ' AND role_name = session_user'),
        ('vault', of_vault),
        ('log', of_vault),
        ('fact', of_scopes),
        ('link', of_scopes),
        ('entity', of_vault),
        ('author', of_vault),
        ('taken_commit', of_vault),
        ('promotion', ' AND (scope = ANY ((SELECT clawmem.my_scopes())::text[])'
                      ' OR vault = ANY ((SELECT clawmem.my_vaults())::text[]))')
    ) AS rows (name, also) LOOP
        EXECUTE format('ALTER TABLE clawmem.%I ENABLE ROW LEVEL SECURITY', one.name);
        EXECUTE format('ALTER TABLE clawmem.%I FORCE ROW LEVEL SECURITY', one.name);
        EXECUTE format('CREATE POLICY owner ON clawmem.%I TO CURRENT_USER USING (true) WITH CHECK (true)', one.name);
        EXECUTE format('CREATE POLICY worker ON clawmem.%I TO clawmem_worker USING (true) WITH CHECK (true)', one.name);
        EXECUTE format('CREATE POLICY member ON clawmem.%I FOR SELECT TO clawmem_member USING (%s)',
                       one.name, of_org || one.also);
    END LOOP;
END $$;
