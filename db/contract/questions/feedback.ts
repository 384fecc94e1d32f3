import type { Subject } from './subject.ts'

export const feedback: Subject = {
  title: 'Feedback',
  about: 'What clients say of identities, and who these are.',
  samples: [
    {
      question: 'What do clients say of agent 1 that paid it before?',
      growsWith: 'the feedback on the agent',
      sql: `select tag1, count(*) as feedback, count(distinct client_address) as clients,
       percentile_disc(0.5) within group (order by value) as median
  from directory.agent_feedback
 where fid = 1 and paid and revoked_at is null
 group by tag1
 order by feedback desc, tag1
 limit 20`,
    },
    {
      question: 'What is known of a client of identity 1 on Base, and which rules flag it?',
      growsWith: 'the feedback on the identity, and that of the client',
      sql: `select client_address, first_seen_at, funder_address, registrations, flags
  from directory.feedback_clients
 where client_bytes = (select client_bytes
                         from directory.feedback
                        where chain = 'base' and erc8004_id = 1
                        order by block_timestamp, block_number, log_index
                        limit 1)`,
    },
    {
      question: 'Which identities were given most feedback?',
      growsWith: 'the number of registrations',
      sql: `select chain, erc8004_id, standing, revoked
  from directory.feedback_totals
 order by standing desc, chain, erc8004_id
 limit 20`,
    },
    {
      question: 'What was said last of the identities of agent 1, and where is more of it?',
      growsWith: 'the feedback on the agent',
      sql: `select f.chain, f.erc8004_id, f.client_address, f.value, f.tag1, f.tag2, f.feedback_uri, f.block_timestamp, f.revoked_at
  from directory.holdings h
  join directory.feedback f using (chain, erc8004_id)
 where h.fid = 1 and h.reason is null
 order by f.block_timestamp desc, f.chain, f.block_number desc, f.log_index desc
 limit 20`,
    },
    {
      question: 'Who responded to feedback on agent 1?',
      growsWith: 'the responses to feedback on the agent',
      sql: `select r.chain, r.erc8004_id, r.client_address, r.feedback_index, r.responder_address, r.response_uri, r.block_timestamp
  from directory.holdings h
  join directory.feedback_responses r using (chain, erc8004_id)
 where h.fid = 1 and h.reason is null
 order by r.block_timestamp desc, r.chain, r.block_number desc, r.log_index desc
 limit 20`,
    },
  ],
}
