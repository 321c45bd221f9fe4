-- Vectors of another model are not comparable. The worker computes new ones.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'clawmem.fact'::regclass AND attname = 'embedding') THEN
        UPDATE clawmem.fact SET embedding = NULL WHERE embedding IS NOT NULL;
    END IF;
END $$;
