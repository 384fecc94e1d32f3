import { z } from 'zod'
import { profileLimits, rowLimits } from '../../../config/limits.ts'
import { clientKinds, flagRules, groundKinds } from '../../../db/queries/sql/feedback.ts'
import { address, chainId, chainName, count, fid, hash, nextCursor, time, tokenId } from '../scalars.ts'

/** Value of a feedback with all its digits; JavaScript rounds one that has many. */
const value = z.number()

const unit = z.enum(['points', 'boolean', 'percent', 'milliseconds', 'blocks', 'usd']).nullable()

/** Summary of an agent's feedback by who gave it: anybody may give some, from as many addresses as he likes. */
export const feedbackSummary = z
  .strictObject({
    total: count.meta({
      description:
        'Feedback that was not revoked, given since the agent held the registration; the numbers below are of it.',
    }),
    revoked: count,
    clients: count.meta({ description: 'Addresses that gave it.' }),
    accounts: count.meta({ description: 'Other accounts behind these addresses.' }),
    by_agents: count.meta({ description: 'From verified addresses or wallets of others that are agents now.' }),
    by_accounts: count.meta({ description: 'From verified addresses of accounts that are no agents now.' }),
    by_strangers: count.meta({ description: 'From addresses that no account verified then.' }),
    by_self: count.meta({ description: 'From addresses that are or were the agent’s own.' }),
    paid: count.meta({ description: 'From addresses that had paid the agent before; not its own.' }),
    answered: count.meta({
      description: 'The agent responded to, from an address that it verified or a wallet of its registrations.',
    }),
    grounds: z
      .strictObject({
        payment: count,
        payment_named: count,
        contradicted: count,
        file: count,
        hash_mismatch: count,
        none: count,
      })
      .meta({ description: 'By what it rests on.' }),
    count_grounded: count.meta({
      description: 'That rests on a payment of the client, its own or one its file names, and that no rule flags.',
    }),
    count_unflagged: count.meta({ description: 'That no rule flags.' }),
    flags: z
      .strictObject({
        circle: count,
        funding_chain: count,
        made_together: count,
        only_rates: count,
        shared_funder: count,
      })
      .meta({
        description: 'By the rules that flag it; one may be flagged by several. It is in all other numbers too.',
      }),
    before_holder: count.meta({
      description: 'Given to who held the registrations before, and not revoked; in no other number.',
    }),
    tags: z
      .array(
        z.strictObject({
          tag: z.string(),
          unit: unit.meta({
            description:
              'Of the medians, where the tag is one of the standard’s: values outside its range are in an entry of their own, ' +
              'with null, as are those of all other tags.',
          }),
          feedback: count,
          median: value,
          feedback_known: count.meta({ description: 'Of other agents and accounts.' }),
          median_known: value.nullable(),
          count_grounded: count.meta({
            description: 'That rests on a payment of the client, and that no rule flags.',
          }),
          median_grounded: value.nullable(),
          count_unflagged: count.meta({ description: 'That no rule flags.' }),
          median_unflagged: value.nullable(),
        }),
      )
      .max(profileLimits.feedbackTags)
      .meta({
        description:
          'First tags by their units, those that known clients used most first. Tags without a unit have scales of their own.',
      }),
  })
  .meta({ id: 'FeedbackSummary' })

const feedback = z
  .strictObject({
    chain: chainName,
    chain_id: chainId,
    erc8004_id: tokenId,
    client_address: address,
    client: z.enum(clientKinds).meta({
      description:
        'Whose the address was when it gave it. self: it is or was one of the agent’s own, or of who held the ' +
        'registration then; agent, account: another one verified it, or named it as its wallet, and is an agent now, or ' +
        'is not; stranger: nobody did.',
    }),
    client_fid: fid.nullable(),
    feedback_index: count.meta({ description: 'Counts the feedback of one client on one registration from 1 on.' }),
    value,
    tag1: z.string().meta({ description: 'What is judged, in the client’s words.' }),
    tag2: z.string().meta({ description: 'What is judged more closely, in the client’s words.' }),
    endpoint: z.string().nullable().meta({ description: 'The endpoint that is judged. Null: none is named.' }),
    feedback_uri: z.string().nullable().meta({ description: 'Null: none, or very long.' }),
    feedback_hash: hash,
    paid: z.boolean().meta({
      description: 'Whether the client had paid the agent before, in final blocks; never of its own addresses.',
    }),
    before_holder: z.boolean().meta({
      description: 'Whether it was given before the agent held the registration: it says nothing of the agent.',
    }),
    given_at: time,
    block_number: count,
    log_index: count,
    tx_hash: hash,
    revoked_at: time.nullable().meta({ description: 'Null: it stands.' }),
    unit: unit.meta({
      description: 'Unit of the value, where `tag1` is one of the standard’s and the value in its range.',
    }),
    grounds: z.enum(groundKinds).meta({
      description:
        'What it rests on. payment: a payment of the client before it; payment_named: one that its file names, and that is ' +
        'ours; contradicted: the named one came later, or another one made it; file: a file that fits; hash_mismatch; none.',
    }),
    payment: z
      .strictObject({ chain: chainName, tx_hash: hash, block_number: count, log_index: count })
      .nullable()
      .meta({ description: 'The payment of `grounds`. Null: none, or archived.' }),
    file: z
      .strictObject({
        status: z.enum(['ok', 'foreign', 'empty', 'unsupported', 'invalid', 'unreachable']).meta({
          description: 'foreign: it says that it is of other feedback.',
        }),
        hash: z.enum(['content', 'sdk', 'none', 'mismatch']).nullable().meta({
          description:
            'What `feedback_hash` is of: the file; a form of it that a known SDK writes; nothing; something else.',
        }),
        read_at: time,
        payment: z
          .strictObject({
            chain_id: count,
            tx_hash: hash,
            from_address: address.nullable(),
            to_address: address.nullable(),
            state: z.enum(['found', 'others', 'missing', 'unknown']).meta({
              description:
                'found: of this client and before it; others: later, or made by another one than it says; missing: no row has it, as none has plain transfers; unknown.',
            }),
          })
          .nullable()
          .meta({ description: 'The payment that it names, as it says.' }),
      })
      .nullable()
      .meta({ description: 'What was read at `feedback_uri`. Null: nothing yet.' }),
    responses: count
      .max(profileLimits.responsesCounted)
      .meta({ description: 'Anybody may respond; no more are counted.' }),
    answered: z.boolean().meta({
      description: 'Whether the agent responded, from an address that it verified or a wallet of its registrations.',
    }),
    flags: z
      .array(z.enum(flagRules))
      .max(flagRules.length)
      .meta({ description: 'The rules that say that its client may be one of many by which somebody rates. Sorted.' }),
  })
  .meta({ id: 'Feedback' })

export const feedbackList = z
  .strictObject({
    fid,
    count,
    feedback: z.array(feedback).max(rowLimits.feedback.maximum),
    next_cursor: nextCursor,
  })
  .meta({ id: 'FeedbackList' })
