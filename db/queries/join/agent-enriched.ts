import { bestLabel, bestTagOrder } from '../sql/enriched-fields.ts'

/**
 * What deriving the agent `s.fid` takes from the sources outside the chains and the social network: its best tag, whether
 * it has an account on a host of code, and a digest of what is shown. Times are left out: they are no news.
 */
export const enriched = `
      select ${bestLabel('s.fid')} as oli,
             exists (select from codehost_profile c where c.fid = s.fid) as has_codehost,
             md5(concat_ws('/',
               (select string_agg(md5(row(t.address, t.source, t.chain, t.slug, t.name, t.tag_type, t.ordinal,
                                          t.meta::text, t.attester)::text), ',' order by t.address, ${bestTagOrder('t')})
                  from oli_tag t where t.fid = s.fid),
               (select string_agg(md5(row(i.platform, i.identity, i.display_name, i.address, i.url, i.avatar_url,
                                          i.description, i.sources, i.follower_count)::text), ','
                                  order by i.platform, i.identity)
                  from agent_identity i where i.fid = s.fid),
               (select md5(row(c.login, c.user_id, c.type, c.name, c.url, c.avatar_url, c.bio, c.followers, c.following,
                               c.public_repos, c.total_stars, c.top_languages, extract(epoch from c.account_created_at),
                               extract(epoch from c.last_push_at), c.verified, c.source)::text)
                  from codehost_profile c where c.fid = s.fid)
             ))::uuid as enriched_digest`
