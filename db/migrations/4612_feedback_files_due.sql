-- Files of feedback that is there already are read.
insert into due (kind, key) select 'feedback files', id from feedback where feedback_uri <> '';
