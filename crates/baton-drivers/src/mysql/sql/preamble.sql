-- How every procedure begins that changes a namespace: errors are passed on, the lineage is settled, and
-- the namespace is locked until the step ends. v_fence is the highest epoch that is known, by a write
-- or by a grant; a grant locks the namespace too, so the lease's row need not be locked.
-- Stands where a procedure says "preamble" in braces, after its own variables.
DECLARE v_here, v_born_in, v_fence BIGINT UNSIGNED;
{handlers}

START TRANSACTION;
CALL `{prefix}settle`(p_seen_lineage, 1, v_here);
CALL `{prefix}enter`(p_namespace, v_here, v_born_in, v_fence);
SELECT GREATEST(v_fence, epoch) INTO v_fence FROM `{prefix}locks` WHERE lock_key = p_namespace;
