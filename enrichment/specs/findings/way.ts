import { readyChains } from '../../../config/chains.more.ts'
import { chainNames, chainOf } from '../../../config/chains.ts'
import { textOf } from '../../../trust/strict-json.ts'
import { networkOf } from '../../networks.ts'
import { fieldsOf } from '../offers/spellings.ts'
import { type Finding, finding } from './finding.ts'

const addressForm = /^0x[0-9a-f]{40}$/i
/** Base units of a token with six decimals: $1,000. */
const largeUsd = 1_000n
const shortestSeconds = 10

/** What is wrong with one way to pay; `isSecond`: of version 2 of x402, else of version 1. */
export function findingsOfWay(way: unknown, isSecond: boolean): Finding[] {
  const { scheme, network, asset, payTo, amount, maxAmountRequired, maxTimeoutSeconds: seconds, extra } = fieldsOf(way)
  const units = isSecond ? amount : maxAmountRequired
  const needed = { scheme, network, asset, payTo, [isSecond ? 'amount' : 'maxAmountRequired']: units }
  const missing = Object.keys(needed).filter((key) => needed[key as keyof typeof needed] == null)
  const place = typeof network === 'string' ? placeOf(network) : undefined
  return [
    ...missing.map((key) => finding('field_missing', key)),
    ...(place ? findingsOfNetwork(textOf(network), place, isSecond) : []),
    ...(asset != null && place?.isEvm ? findingsOfAsset(textOf(asset), place) : []),
    ...(payTo != null && place?.isEvm ? findingsOfPayee(textOf(payTo), textOf(asset)) : []),
    ...(units == null ? [] : findingsOfAmount(units, place, textOf(asset))),
    ...findingsOfTime(seconds, isSecond),
    ...(scheme === 'exact' && place?.isEvm ? findingsOfDomain(extra) : []),
  ]
}

interface Place extends ReturnType<typeof networkOf> {
  readonly isEvm: boolean
}

function placeOf(network: string): Place {
  const known = networkOf(network)
  return { ...known, isEvm: known.chain !== null || /^eip155:/i.test(network) }
}

function findingsOfNetwork(network: string, { chain, testnet, isEvm }: Place, isSecond: boolean): Finding[] {
  const isNamed = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(network)
  const isUnknown = chain === null && testnet === null && !/^solana/i.test(network)
  return [
    ...(isSecond && !isNamed ? [finding('network_form', network)] : []),
    ...(isUnknown && (isEvm || !isNamed) ? [finding('network_unknown', network)] : []),
    ...(testnet === true ? [finding('testnet', network)] : []),
  ]
}

function findingsOfAsset(asset: string, { chain }: Place): Finding[] {
  if (!addressForm.test(asset)) return [finding('asset_malformed', asset)]
  const of = (name: (typeof chainNames)[number]) =>
    tokensOf(name).some(({ address }) => address === asset.toLowerCase())
  if (chain === null || of(chain)) return []
  // A token with one address on many chains may be on this one too; whether it is, its code says.
  const known = Object.values(readyChains).filter(({ tokens }) =>
    tokens.some((one) => one.address === asset.toLowerCase()),
  )
  const other = known.length > 1 ? undefined : chainNames.find(of)
  return [other ? finding('asset_elsewhere', `${asset}, of ${other}`) : finding('asset_unknown', asset)]
}

function findingsOfPayee(payTo: string, asset: string): Finding[] {
  if (!addressForm.test(payTo)) return [finding('pay_to_malformed', payTo)]
  const address = payTo.toLowerCase()
  if (/^0x0{40}$/.test(address)) return [finding('pay_to_zero')]
  const isToken =
    address === asset.toLowerCase() || chainNames.some((name) => tokensOf(name).some((one) => one.address === address))
  return isToken ? [finding('pay_to_token', address)] : []
}

function findingsOfAmount(units: unknown, place: Place | undefined, asset: string): Finding[] {
  if (typeof units !== 'string' || !/^\d{1,78}$/.test(units)) return [finding('amount_malformed', units)]
  if (/^0+$/.test(units)) return [finding('amount_zero')]
  const tokens = place && place.chain !== null ? tokensOf(place.chain) : []
  const token = tokens.find(({ address }) => address === asset.toLowerCase())
  return token && BigInt(units) > largeUsd * 10n ** BigInt(token.decimals) ? [finding('amount_large', units)] : []
}

/** Version 1 demands it as well; where it is left out, clients have a time of their own. */
function findingsOfTime(seconds: unknown, isSecond: boolean): Finding[] {
  if (seconds === undefined && !isSecond) return []
  if (!Number.isInteger(seconds) || (seconds as number) <= 0) return [finding('time_to_pay', seconds ?? 'missing')]
  return (seconds as number) < shortestSeconds ? [finding('time_to_pay_short', seconds)] : []
}

function findingsOfDomain(extra: unknown): Finding[] {
  const { name, version, assetTransferMethod: method } = fieldsOf(extra)
  const isAuthorized = method === undefined || method === 'eip3009'
  const missing = Object.entries({ name, version }).flatMap(([key, one]) => (typeof one === 'string' ? [] : [key]))
  return isAuthorized && missing.length > 0 ? [finding('token_domain', missing.join(', '))] : []
}

const tokensOf = (name: (typeof chainNames)[number]) => chainOf(name).tokens
