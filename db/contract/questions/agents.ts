import type { Subject } from './subject.ts'

export const agents: Subject = {
  title: 'Agents',
  about: 'Who is there, whose addresses are whose, and which edges agents have.',
  samples: [
    {
      question: 'Which agents were paid most often in the last 30 days?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select fid, handle, settlements_30d
  from directory.agents
 order by settlements_30d desc, settlements_all desc, fid desc
 limit 10`,
    },
    {
      question: 'How many agents are on how many chains, and how many of them are claimed?',
      growsWith: 'the number of agents',
      sql: `select cardinality(chains) as chains, count(*) as agents, count(*) filter (where claimed) as claimed
  from directory.agents
 group by cardinality(chains)
 order by 1`,
    },
    {
      question: 'How many agents came in each week: into a registry, and into this directory?',
      growsWith: 'the number of agents',
      sql: `select date_trunc('week', at, 'UTC') as week,
       count(*) filter (where place = 'registry') as registered, count(*) filter (where place = 'directory') as listed
  from (select registered_at as at, 'registry' as place from directory.agents
         union all
        select listed_at, 'directory' from directory.agents) came
 group by week
 order by week desc
 limit 20`,
    },
    {
      question: 'Which addresses are verified by more than one account?',
      growsWith: 'the number of verified addresses',
      sql: `select address, array_agg(fid order by fid) as fids
  from directory.addresses
 where ended_at is null
 group by address_bytes, address
having count(*) > 1
 order by address
 limit 20`,
    },
    {
      question: 'Whose address was one address a week ago?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select whose.fid, whose.verified_at, whose.ended_at
  from (select address from directory.addresses where fid = 1 order by address limit 1) one
 cross join lateral directory.fids_of_address_as_of(one.address, now() - interval '7 days') whose
 order by whose.fid, whose.verified_at`,
    },
    {
      question: 'Which edges does agent 1 have, the heaviest first?',
      growsWith: 'the edges of the agent',
      sql: `select peer_fid, kind, direction, chain, weight, amount_usdc
  from directory.edges
 where fid = 1
 order by weight desc, peer_fid, kind, direction, chain
 limit 20`,
    },
    {
      question: 'Which agents changed last, and which left?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select seq, fid, kind, changed_at
  from directory.changes
 order by seq desc
 limit 20`,
    },
    {
      question: 'Which claims stand, and when were they last checked?',
      growsWith: 'the number of claims',
      sql: `select fid, method, claimed_at, state, checked_at
  from directory.claims
 where state <> 'ended'
 order by claimed_at desc, fid, method, nonce
 limit 20`,
    },
    {
      question: 'What became of the claims of agent 1?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select seq, method, kind, at, evidence
  from directory.claim_events
 where fid = 1
 order by seq`,
    },
  ],
}
