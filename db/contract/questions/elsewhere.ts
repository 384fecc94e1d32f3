import type { Subject } from './subject.ts'

export const elsewhere: Subject = {
  title: 'Elsewhere',
  about: 'What hosts, labels and other services say of agents, and how fresh that is.',
  samples: [
    {
      question: 'Which agents answer on their own hosts and were never paid?',
      growsWith: 'the agents that were never paid, and their documents',
      sql: `select a.fid, a.handle, max(s.last_alive_at) as last_alive_at
  from directory.agents a
  join directory.specs s on s.fid = a.fid and s.consecutive_failures = 0
 where a.settlements_all = 0
 group by a.fid, a.handle
 order by last_alive_at desc, a.fid
 limit 20`,
    },
    {
      question: 'How did looking for descriptions on agents’ hosts end?',
      growsWith: 'the number of agents',
      sql: `select spec_check_status, count(*) as agents, max(checked_at) as last_checked_at
  from directory.spec_checks
 group by spec_check_status
 order by agents desc, spec_check_status`,
    },
    {
      question: 'How fast did the hosts of agent 1 answer within the last day?',
      growsWith: 'the looks at its hosts within a day',
      sql: `select kind, url, count(*) as checks, count(*) filter (where alive) as alive,
       percentile_disc(0.5) within group (order by latency_ms) as median_ms
  from directory.uptime_checks
 where fid = 1 and checked_at > now() - interval '1 day'
 group by kind, url
 order by kind, url`,
    },
    {
      question: 'How much of the last 90 days were the hosts of agent 1 there?',
      growsWith: 'its documents and the days',
      sql: `select kind, url, sum(checks) as checks, round(100.0 * sum(alive) / sum(checks), 2) as percent
  from directory.uptime_days
 where fid = 1
 group by kind, url
 order by kind, url`,
    },
    {
      question: 'How do others label the addresses of agent 1?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select address, source, chain, name, tag_type, attester_address
  from directory.tags
 where fid = 1
 order by source, tag_type, ordinal, address, chain, slug, attester_address`,
    },
    {
      question: 'Under which names is agent 1 known elsewhere?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select platform, identity, display_name, url, follower_count
  from directory.identities
 where fid = 1
 order by platform, identity`,
    },
    {
      question: 'Which code accounts name the agent that names them, most followed first?',
      growsWith: 'the number of agents, and of code accounts',
      sql: `select fid, login, followers, public_repos, total_stars, last_push_at
  from directory.codehosts
 where verified
 order by followers desc nulls last, fid
 limit 20`,
    },
    {
      question: 'What does agent 1 say that it asks for?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select kind, resource, scheme, chain, min_amount_usd, max_amount_usd, pay_to, last_alive_at
  from directory.prices
 where fid = 1
 order by kind, url, place`,
    },
    {
      question: 'Are the prices of agent 1 to be paid to its own wallet?',
      growsWith: 'its prices and its registrations',
      sql: `select kind, url, place, pay_to, outcome, chain, erc8004_id, block_number
  from directory.payees
 where fid = 1
 order by kind, url, place`,
    },
    {
      question: 'What is known of agent 1 elsewhere, and how old is it?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select source, last_success_at, last_outcome, failures
  from directory.sources
 where subject = 'fid:1'
 order by source`,
    },
    {
      question: 'When did streams and sweeps of sources last move?',
      growsWith: 'the sources',
      sql: `select source, max(updated_at) as updated_at
  from directory.streams
 group by source
 order by source`,
    },
  ],
}
