import { type ChainName, chains } from '../../../chains.config.ts'
import { type Html, html } from '../../http/html.ts'
import { shortened } from './figures.ts'

/** Where people look a chain up: the explorers of the Etherscan family share their paths. */
const explorers: Record<ChainName, string> = {
  ethereum: 'https://etherscan.io',
  base: 'https://basescan.org',
  celo: 'https://celoscan.io',
  arbitrum: 'https://arbiscan.io',
  optimism: 'https://optimistic.etherscan.io',
  polygon: 'https://polygonscan.com',
  gnosis: 'https://gnosisscan.io',
}

export function addressLink(chain: ChainName, address: string): Html {
  return hexLink(`${explorers[chain]}/address/${address}`, address, `${address} on ${chains[chain].label}`)
}

export function transactionLink(chain: ChainName, hash: string): Html {
  return hexLink(`${explorers[chain]}/tx/${hash}`, hash, `Transaction on ${chains[chain].label}`)
}

export function tokenLink(chain: ChainName, registry: string, id: string): Html {
  return outsideLink(`${explorers[chain]}/nft/${registry}/${id}`, `#${id}`)
}

/** A link away from here. An address that others wrote and that is not http(s) is shown and leads nowhere. */
export function outsideLink(address: string, text: Html | string = address): Html {
  const protocol = URL.parse(address)?.protocol
  if (protocol !== 'https:' && protocol !== 'http:') return html`<bdi>${text}</bdi>`
  return html`<a href="${address}" rel="nofollow noopener noreferrer ugc"><bdi>${text}</bdi></a>`
}

/** The host of an address for short, the address itself when it has none. */
export function hostOf(address: string): string {
  return URL.parse(address)?.host || address
}

function hexLink(target: string, hex: string, title: string): Html {
  return html`<a class="hex" href="${target}" title="${title}" rel="noopener noreferrer">${shortened(hex)}</a>`
}
