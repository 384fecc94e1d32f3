-- Certificates of blocks, and the hub that is followed, are appended to the transparency log as they are now.
insert into due (kind, key)
select 'logged facts', key
  from (select 'backfill:' || id as key, completed_at as at from backfill where completed_at is not null
         union all
        select 'audit:' || chain || ':' || from_block || ':' || to_block || ':' || checksum, audited_at from audit_certificate
         union all
        select 'hub:' || (extract(epoch from followed_since) * 1000)::bigint || ':' || url, followed_since
          from hub_standing
         where followed_since is not null) fact
 order by at;
