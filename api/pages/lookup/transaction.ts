import { z } from 'zod'
import { type ChainName, chainOf, findChain } from '../../../config/chains.ts'
import type { Route } from '../../http/route.ts'
import { byAddress } from '../../routes/addresses/by-address.ts'
import { allSettlements } from '../../routes/settlements/all-settlements.ts'
import type { addressSubjectAnswer } from '../../schemas/addresses/by-address.ts'
import type { allSettlementsList } from '../../schemas/settlements/settlement.ts'
import type { Exact, Settlement } from '../parts/exact-json.ts'
import { counted, shortened } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { addressLink, agentLink, transactionLink } from '../parts/links.ts'
import { type Names, nameLink, namesOf } from '../parts/names.ts'
import { askExact, page, type World } from '../parts/page.ts'
import { settlementTable } from '../parts/settlement-table.ts'
import { minute } from '../parts/times.ts'

type Subject = Exact<z.output<typeof addressSubjectAnswer>>

/** Most settlements on the page; a facilitator's batch has some dozens. The JSON has more. */
const mostRows = 50
/** Most recipients that are looked up as agents. */
const mostNamed = 10

/** Said of a transaction without a known settlement; has no full stop, so that a sentence can go on. */
export const noneKnown =
  'No gasless USDC settlement is known in this transaction; where years ago are archived, theirs are in the files of ' +
  '/exports alone'

const hashParameter = z
  .string()
  .transform((text) => (/^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : undefined))
const anyTransaction = { query: z.object({}), maxAgeSeconds: 30, freshSeconds: 10, missing: noneKnown } as const

/** `/tx/{chain}/{hash}`: the settlements of a transaction. The chain by label, name or id. */
export function transactionPage(world: World): Route {
  return page({
    ...anyTransaction,
    path: '/tx/{chain}/{hash}',
    params: z.object({ chain: z.string().transform((text) => findChain(text)), hash: hashParameter }),
    view: async ({ chain, hash }) => (chain === undefined ? undefined : viewOf(world, hash, chain)),
  })
}

/** `/tx/{hash}`: the same, on whichever chain it is known. */
export function chainlessTransactionPage(world: World): Route {
  return page({
    ...anyTransaction,
    path: '/tx/{hash}',
    params: z.object({ hash: hashParameter }),
    view: ({ hash }) => viewOf(world, hash),
  })
}

async function viewOf(world: World, hash: string | undefined, asked?: ChainName): Promise<Html | undefined> {
  if (hash === undefined) return undefined
  const filter = asked === undefined ? {} : { chain: asked }
  const query = allSettlements.query.parse({ tx_hash: hash, ...filter, limit: `${mostRows}` })
  const list = await askExact<z.output<typeof allSettlementsList>>(world, allSettlements, query)
  const [first] = list?.settlements ?? []
  if (!list || !first) return undefined
  const { chain } = first
  const names = await namesOf(world, list.settlements)
  const head = {
    title: `Transaction ${shortened(hash)} on ${chainOf(chain).label}`,
    description: `${counted(list.count, 'gasless USDC settlement')} in transaction ${hash} on ${chainOf(chain).label}.`,
    path: `/tx/${chain}/${hash}`,
  }
  return layout(world, head, [
    about(hash, first, list.count, names),
    await recipients(world, list.settlements),
    html`<section aria-labelledby="settlements"><h2 id="settlements">Settlements</h2>${settlementTable('Settlements', list.settlements, [], names)}${list.count === mostRows && html`<p class="sub">The first ${mostRows} of them.</p>`}</section>
<section aria-labelledby="data"><h2 id="data">Check it yourself</h2><p><a href="/api/settlements?tx_hash=${hash}">As JSON</a> · ${transactionLink(chain, hash)} on the chain’s explorer. Each settlement is one successful call of <code>transferWithAuthorization</code> or <code>receiveWithAuthorization</code> of USDC (EIP-3009), found by its <code>AuthorizationUsed</code> log.</p></section>`,
  ])
}

function about(hash: string, settlement: Settlement, count: number, names: Names): Html {
  const { chain, block_number, block_timestamp, facilitator_address: sender, final } = settlement
  return html`<section class="hero"><h1>Transaction</h1>
<p class="lead"><code class="whole">${hash}</code></p>
<dl class="facts"><div><dt>Chain</dt><dd><span class="chain ${chain}">${chainOf(chain).label}</span></dd></div>
<div><dt>Block</dt><dd>${block_number}, ${minute(block_timestamp)}, ${final ? 'final' : 'not final yet'}</dd></div>
<div><dt>Sent by</dt><dd>${nameLink(names, sender)} ${addressLink(chain, sender)} <span class="sub">the facilitator, who paid the gas</span></dd></div>
<div><dt>Holds</dt><dd>${count === mostRows && 'at least '}${counted(count, 'settlement')}</dd></div></dl></section>`
}

/** Links to the agents among the recipients; empty when none is one. */
async function recipients(world: World, settlements: readonly Settlement[]) {
  const addresses = [...new Set(settlements.map(({ recipient_address }) => recipient_address))].slice(0, mostNamed)
  const subjects = await Promise.all(addresses.map((address) => askExact<Subject>(world, byAddress, { address })))
  const agents = new Map(subjects.flatMap((one) => (one?.kind === 'agent' ? [[one.fid, one] as const] : [])))
  return agents.size === 0
    ? html``
    : html`<p class="note">Paid: ${[...agents.values()].map((agent, index) => html`${index > 0 && ', '}${agentLink(agent)}`)}</p>`
}
