import { z } from 'zod'
import { findChain } from '../../../config/chains.ts'
import { type PayeeFacts, payeeFacts } from '../../../db/queries/documents/payee.ts'
import { maxUrlLength } from '../../../net/target.ts'
import { originOf, payeeFound } from '../../explain/payee.ts'
import { objectText } from '../../http/cursor.ts'
import { invalidRequest } from '../../http/errors.ts'
import { askable, momentFilter } from '../../http/filter-parameters.ts'
import { json, route, type Sources } from '../../http/route.ts'
import { payeeAnswer } from '../../schemas/documents/payee.ts'

/** One text without control characters, the first if repeated. Null: not given, empty, or longer than any address of a document. */
const textOf = (description: string) =>
  z
    .unknown()
    .optional()
    .transform((value) => {
      const text = [value].flat()[0]
      if (typeof text !== 'string' || text.length > maxUrlLength) return null
      return text.replace(/\p{Cc}/gu, '').trim() || null
    })
    .meta({ description, override: { type: 'string', maxLength: maxUrlLength } })

const agentForm = /^(?:eip155:)?(?<chain>[a-z0-9_. -]{1,40}):(?:(?<registry>0x[0-9a-f]{40})[:/#])?(?<id>[0-9]{1,78})$/

/** A registration by chain and id; null: of a registry that is not indexed. Throws for any other text. */
function namedAgent(text: string, chains: Sources['chains']) {
  const { chain, registry, id } = (agentForm.exec(text.toLowerCase())?.groups ?? {}) as Record<
    string,
    string | undefined
  >
  if (chain === undefined || id === undefined) {
    throw invalidRequest('agent', 'must be a chain, a colon and the id of a registration, as in eip155:8453:17')
  }
  const name = findChain(chain)
  if (!name || (registry !== undefined && registry !== chains[name]?.registry.address)) return null
  return { chain: name, id }
}

/** GET /api/payee */
export const payee = route({
  path: '/api/payee',
  operationId: 'checkPayee',
  summary: 'Whether the address that a seller wants to be paid at is its agent’s.',
  query: z.object({
    url: textOf('A paid endpoint. It is not asked now: what it was read as last counts.'),
    pay_to: textOf('`payTo` of a 402 answer. Without it, that of the endpoint.'),
    network: textOf(
      'The network of the payment: CAIP-2, a chain’s name, label or id. Chooses among offers of the endpoint.',
    ),
    agent: textOf(
      'The seller’s registration: `eip155:8453:17`. `base:17` is the same, and the address of the registry may stand in ' +
        'between. Without it, that of the agent whose documents have the endpoint.',
    ),
    as_of: momentFilter('ISO 8601 with a zone: owner, wallet and verifications as they were then. Without it, now.'),
  }),
  answer: {
    type: json,
    schema: payeeAnswer,
    description: 'What the registry says of the address at a final block, in the words of the draft ERC-8478.',
  },
  errors: ['ERR_PAYLOAD_INVALID', 'ERR_NOT_FOUND'],
  tool: {
    name: 'check_payee',
    use: 'Before paying: whether the payTo of a 402 answer is the wallet of the agent.',
    untold: ['network', 'as_of', 'signed'],
  },
  signable: true,
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no indexed registry has this agent',
  async read({ url, pay_to, network, agent, as_of }, { database, chains }) {
    if (url === null && pay_to === null) {
      throw invalidRequest('url', 'or pay_to must be given, an endpoint or an address that wants to be paid')
    }
    const moment = askable({ as_of })
    if (!moment) throw invalidRequest('as_of', 'must be an ISO 8601 time with a zone')
    const origin = url === null ? null : originOf(url)
    if (origin === undefined) throw invalidRequest('url', 'must be an absolute address with a host')
    const named = agent === null ? null : namedAgent(agent, chains)
    if (agent !== null && !named) return undefined
    const payTo = pay_to && (/^0x[0-9a-f]{40}$/i.test(pay_to) ? pay_to.toLowerCase() : pay_to)
    const facts = await payeeFacts(database, {
      agent: named,
      payTo,
      endpoint: url === null || origin === null ? null : { url: new URL(url).href, given: url, origin },
      network: network && (findChain(network.replace(/^eip155:/i, '')) ?? network.toLowerCase()),
      asOf: moment.as_of,
    })
    if (named && !facts.registration) return undefined
    const { outcome, human, pay_to: paid, network: meant, ...more } = payeeFound({ payTo, network }, facts)
    const spelt = (members: object) => JSON.stringify(members).slice(1, -1)
    const first = spelt({ outcome, human, pay_to: paid, network: meant })
    return `{${first},"agent":${agentText(facts.registration)},${spelt(more)}}`
  },
})

/** JSON of the agent: ids are wider than the numbers of JavaScript. */
function agentText(registration: PayeeFacts['registration']): string {
  if (!registration) return 'null'
  const { chain, chain_id, erc8004_id, fid } = registration
  return objectText({
    chain: JSON.stringify(chain),
    chain_id: `${chain_id}`,
    erc8004_id,
    fid: JSON.stringify(fid),
  })
}
