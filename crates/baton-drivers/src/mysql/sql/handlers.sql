-- What every procedure that is a step of its own declares: an error undoes the step and is passed on,
-- and a row that is not there is no error. Stands where a procedure says "handlers" in braces.
DECLARE EXIT HANDLER FOR SQLEXCEPTION
BEGIN
    ROLLBACK;
    RESIGNAL;
END;
DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
