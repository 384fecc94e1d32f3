-- Files that were read before the registry that they name was compared are read again, at the pace of their hosts.
insert into due (kind, key) select 'feedback files', feedback_id from feedback_file where status = 'ok';
