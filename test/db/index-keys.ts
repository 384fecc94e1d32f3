import { claimLimits } from '../../config/limits.claims.ts'
import { longestOfTag } from '../../enrichment/explorer/tags.ts'
import { longestOfIdentity } from '../../enrichment/identity/identities.ts'
import { maxUrlLength } from '../../net/target.ts'
import { longestHandle } from '../../social/profile.ts'

// Every key of an index that has no fixed size, by who writes it and how many bytes it has at most.

interface Keys {
  readonly who: string
  /** Most bytes of one of these keys. */
  readonly bytes: number
  /** Each as `table.key`. */
  readonly keys: readonly string[]
}

/** Most bytes of a code point in UTF-8; lower case has never more. */
const codePoint = 4
/** Longest name of a chain in characters of ASCII: `newName`. */
export const longestChain = 31
/** Longest registrable domain in characters of ASCII: RFC 1035 2.3.4, with the root. */
export const longestSite = 255
/** Longest word of a text that Postgres keeps as one, in bytes. */
export const longestWord = 2_046
/** Most bytes of a numeric of 78 digits, which hold a uint256: two for four digits, and eight before them. */
const uint256 = 48
const digits256 = 78

const of = (table: string, keys: string) => keys.split(' ').map((key) => `${table}.${key}`)
const one = (key: string, tables: string) => tables.split(' ').map((table) => `${table}.${key}`)

const ours: readonly Keys[] = [
  {
    who: 'the table of chains, and the operator who adds to it',
    bytes: longestChain,
    keys: [
      ...one(
        'chain',
        'agent_demand agent_edge agent_figure agent_holding agent_payer_hour audit_agent audit_certificate backfill',
      ),
      ...one(
        'chain',
        'builder_code chain_contract chain_state escrow_part exact_amount facilitator_total feedback feedback_response',
      ),
      ...one('chain', 'feedback_total fid_custody final_block head_range income_address income_agent income_hour'),
      ...one('chain', 'income_sender income_total known_recipient oli_tag payment payment_sum ranking ranking_day'),
      ...one('chain', 'registration registration_document registration_metadata registration_transfer'),
      ...one(
        'chain',
        'control_reading registration_approval registration_operator registration_wallet registry_event searched_registration series_payers settlement settlement_archive settlement_archive_piece',
      ),
      ...one('chain', 'settlement_archive_sum settlement_hour_total settlement_hourly settlement_payer'),
      ...one('chain', 'settlement_rollup settlement_scope settlement_total'),
      'series_count.of_chain',
    ],
  },
  // Each once: seven of the table, and as many as an operator would ever add.
  { who: 'the same, of an agent', bytes: 24 + 50 * (longestChain + 5), keys: ['agent.chains'] },
  {
    who: 'a closed set of words in the code',
    bytes: 64,
    keys: [
      ...one('kind', 'agent_edge agent_spec circle_reach due income_hour income_total spec_day spec_probe'),
      ...one('flag', 'income_hour income_total'),
      ...one('source', 'agent_input oli_tag source_cursor source_state'),
      ...one('method', 'claim claim_action claim_event webhook'),
      ...one('measure', 'ranking ranking_day'),
      ...one('period', 'ranking ranking_day'),
      'claim_action.action',
      'feedback_group.rule',
      'webhook_event.type',
      'income_owner.because',
      'series_payers.length',
      'produced_content.name',
      'schema_migration.name',
      'facilitator_signer.name',
      'host_budget.host',
    ],
  },
  { who: 'the database, for a partition', bytes: 63, keys: ['backfill_partition.partition'] },
  { who: 'a range of blocks', bytes: 24, keys: ["backfill.int4range(from_block, to_block, '[]'::text)"] },
  { who: 'the number of a shard', bytes: 10, keys: ['source_cursor.shard'] },
  {
    who: 'an id of chain, number of 256 bits or block, and a hash of 32 digits at most',
    bytes: longestChain + digits256 + 32 + 2,
    keys: [
      'feedback_file.feedback_id',
      ...one(
        'id',
        'builder_code exact_amount feedback feedback_response fid_custody payment registration registration_metadata',
      ),
      ...one(
        'id',
        'registration_approval registration_operator registration_transfer registration_wallet registry_event settlement',
      ),
      'unpaid_authorization.id',
    ],
  },
  {
    who: 'a word of ours, a chain, and a number of 256 bits, or an address and an hour',
    bytes: longestChain + digits256 + 64,
    keys: [
      'due.key',
      'directory_sum.part',
      'feedback_edge.registration',
      'feedback_group.subject',
      ...one('subject', 'source_state transparency_entry webhook_event'),
    ],
  },
  {
    who: 'the name of a webhook: 12 characters behind wh-',
    bytes: 15,
    keys: one('id', 'webhook webhook_delivery webhook_standing'),
  },
  { who: 'the operator, a hub', bytes: maxUrlLength, keys: one('url', 'hub_standing verification_witness') },
]

const fixed: readonly Keys[] = [
  {
    who: 'an address of twenty bytes and a word of 32',
    bytes: 52,
    keys: ['escrow_part.subject', 'payment.subject', 'payment.funded_subject(kind, subject)'],
  },
  {
    who: 'an address of twenty bytes',
    bytes: 20,
    keys: [
      'figure_derivation.addresses', // each alone: an inverted index
      ...one('address', 'facilitator_sender facilitator_signer farcaster_message income_address income_owner'),
      ...one('address', 'known_recipient oli_tag recipient_counts verified_address'),
      ...one('facilitator', 'facilitator_total income_sender payment settlement settlement_archive_sum'),
      ...one('client', 'feedback feedback_client feedback_edge feedback_response'),
      ...one('address', 'circle_reach feedback_edge'),
      ...one('funder', 'feedback_client payment_sum'),
      ...one('recipient', 'income_hour income_ring income_sender settlement settlement_archive_sum'),
      ...one('recipient', 'settlement_hourly settlement_payer settlement_total'),
      ...one('payer', 'income_ring payment payment_sum series_count_found settlement'),
      ...one('payer', 'settlement_archive_sum settlement_payer'),
      ...one('payee', 'payment payment_sum'),
      ...of('agent_holding', 'held_by transferred_to'),
      ...of('registration', 'agent_wallet owner'),
      'control_reading.master',
      'circle_reach.member',
      ...of('registration_operator', 'owner operator'),
      'feedback_response.responder',
      'oli_tag.attester',
      ...of('payment', 'forwarder funder token'),
      ...of('registration_transfer', '"from" "to"'),
      'series_count.of_address',
    ],
  },
  { who: 'an address in hex', bytes: 42, keys: ['chain_contract.address'] },
  {
    who: 'a hash or public key of 32 bytes at most',
    bytes: 32,
    keys: [
      ...one('manifest_sha256', 'claim claim_action'),
      'farcaster_message.hash',
      'produced_content.content_sha256',
      'signer_key.key',
      'verification_witness.message_hash',
    ],
  },
  {
    who: 'a number of 256 bits at most',
    bytes: uint256,
    keys: [
      ...one('agent_id', 'agent_holding audit_agent feedback feedback_response feedback_total registration'),
      ...one(
        'agent_id',
        'control_reading registration_approval registration_document registration_metadata registration_transfer registration_wallet registry_event searched_registration',
      ),
      'feedback_response.feedback_index',
      'fid_custody.fid',
      'agent_figure.earned_ever_amount',
      'agent_figure.GREATEST(earned_last_30d_amount, (0)::numeric)',
    ],
  },
]

const strangers: readonly Keys[] = [
  { who: 'an account, its handle', bytes: longestHandle * codePoint, keys: ['agent.lower(handle)'] },
  {
    who: 'an agent, 200 characters of its name',
    bytes: 200 * codePoint,
    keys: [`searched_registration."left"(COALESCE(name, ''::text), 200)`],
  },
  {
    who: 'an agent, 64 characters of a key of its metadata',
    bytes: 64 * codePoint,
    keys: ['registration_metadata."left"(key, 64)'],
  },
  {
    who: 'an agent, a word',
    bytes: longestWord,
    keys: ['searched_agent.document', 'searched_agent.declared', 'searched_registration.terms'],
  },
  {
    who: 'an agent, three letters of a text, or six digits of their hash behind 0x',
    bytes: 8,
    keys: of('searched_registration', 'show_trgm(name) show_trgm(description)'),
  },
  { who: 'an agent, the name or a tag of what it sells; ASCII', bytes: 32, keys: ['agent_spec.sold_words(resources)'] },
  { who: 'an agent, the domain of its endpoints', bytes: longestSite, keys: ['agent_site.site'] },
  {
    who: 'an agent, where its documents are; percent-encoded',
    bytes: maxUrlLength,
    keys: one('url', 'agent_spec spec_day spec_probe'),
  },
  {
    who: 'web3.bio, a platform',
    bytes: longestOfIdentity.platform * codePoint,
    keys: ['agent_identity.platform'],
  },
  { who: 'web3.bio, a name', bytes: longestOfIdentity.name * codePoint, keys: ['agent_identity.identity'] },
  {
    who: 'whoever tags an address',
    bytes: longestOfTag.slug * codePoint,
    keys: of('oli_tag', 'slug lower(slug)'),
  },
  { who: 'the same, its name', bytes: longestOfTag.name * codePoint, keys: ['oli_tag.lower(name)'] },
  { who: 'the same, its type', bytes: longestOfTag.type * codePoint, keys: ['oli_tag.tag_type'] },
  {
    who: 'a claimant, the nonce; letters and digits',
    bytes: claimLimits.nonceCharacters.most,
    keys: one('nonce', 'claim claim_action claim_event webhook'),
  },
  // Longer than an address or a key in hex.
  {
    who: 'a claimant, the host; punycode',
    bytes: claimLimits.hostCharacters,
    keys: one('signer', 'claim claim_action'),
  },
]

export const indexKeys: readonly Keys[] = [...ours, ...fixed, ...strangers]
