-- What nothing reads any more: produced_content has it.
-- squawk-ignore ban-drop-table
drop table produced_document;
