import { createHash } from 'node:crypto'
import { type Hex, hashMessage, parseAbi, sha256 } from 'viem'
import { walletStandardOf } from '../verification-claim.ts'
import { type Askable, ask, type Client, fetched } from './ask.ts'
import { hostLinkLines } from './host-link.ts'
import { custodyLines, keyLines } from './keys.ts'
import type { CheckLine } from './line.ts'
import type { AddressProof, ClaimProof, Statement } from './proof.ts'

const wallet = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** Value by which a contract wallet confirms a signature. Source: ERC-1271. */
const yes = '0x1626ba7e'

/**
 * Checks that need a chain, a hub or the claim's host: `unknown` where the reader named none, `unanswered` where asking
 * it failed. The proof has the shape of one.
 */
export async function checkOnline(proof: ClaimProof, askable: Askable): Promise<CheckLine[]> {
  return Promise.all([
    ...keyLines(proof, askable),
    ...custodyLines(proof, askable),
    ...proof.address_proofs.flatMap((one) => walletLines(one, askable)),
    ...walletStatement(proof, askable),
    ...manifestLine(proof, askable),
    ...hostLinkLines(proof, askable),
    ...proof.address_proofs.flatMap((one) => hubLines(proof, one, askable)),
  ])
}

function walletLines({ address, verification, wallet }: AddressProof, askable: Askable): Promise<CheckLine>[] {
  if (verification?.type !== 1) return []
  const chainId = verification.chain_id
  return [
    ask(`${address}: the wallet says yes`, askable, chainId, (client) =>
      saysYes(client, address, verification.digest as Hex, verification.claim_signature as Hex),
    ),
    ask(`${address}: the code of the wallet at the block named`, askable, chainId, async (client) => {
      if (!wallet) return 'the proof names no answer of the wallet'
      const blockNumber = BigInt(wallet.block_number)
      const { hash } = await client.getBlock({ blockNumber })
      const code = await client.getCode({ address: address as Hex, blockNumber })
      return hash === wallet.block_hash && (code ? sha256(code) : null) === wallet.code_sha256
    }),
  ]
}

function walletStatement(proof: ClaimProof, askable: Askable): Promise<CheckLine>[] {
  const statement: Statement = proof.statement
  if (statement.kind !== 'eip191') return []
  const behind = proof.address_proofs.find(({ address }) => address === statement.address)
  if (behind?.verification?.type !== 1) return []
  return [
    ask('the wallet signed the text', askable, statement.chain_id, (client) =>
      saysYes(client, statement.address, hashMessage(statement.text), statement.signature as Hex),
    ),
  ]
}

async function saysYes(client: Client, address: string, hash: Hex, signature: Hex): Promise<boolean> {
  if (walletStandardOf(signature) === '6492') return client.verifyHash({ address: address as Hex, hash, signature })
  const args = [hash, signature] as const
  return (
    (await client.readContract({ address: address as Hex, abi: wallet, functionName: 'isValidSignature', args })) ===
    yes
  )
}

/** Whether the host serves the manifest now: that it did when the claim was made is the service's word alone. */
function manifestLine({ statement, state }: ClaimProof, { host }: Askable): (CheckLine | Promise<CheckLine>)[] {
  if (statement.kind !== 'well-known') return []
  const { origin, pathname } = new URL(statement.url)
  const name = 'the host serves this manifest now'
  if (state === 'ended') return [{ name, outcome: 'unknown', detail: 'the claim has ended' }]
  if (host === undefined) return [{ name, outcome: 'unknown', detail: `name it with --host ${origin}` }]
  const asked = new URL(host).origin
  return [served(`${name}${asked === origin ? '' : `, by ${asked}`}`, asked + pathname, statement.sha256)]
}

async function served(name: string, url: string, sha256: string): Promise<CheckLine> {
  const answer = await fetched(url)
  if (typeof answer !== 'string') return { name, ...answer }
  const isSame = createHash('sha256').update(answer).digest('hex') === sha256
  return isSame ? { name, outcome: 'held' } : { name, outcome: 'failed', detail: 'it serves another' }
}

/** Whether hubs still have the message of an address: one that was taken back is signed as well. */
function hubLines(
  { fid, state }: ClaimProof,
  { address, message }: AddressProof,
  { hubs }: Askable,
): (CheckLine | Promise<CheckLine>)[] {
  if (state === 'ended') return []
  if (hubs.length === 0) {
    const name = `${address}: a hub still has the message`
    return [{ name, outcome: 'unknown', detail: 'name a hub with --hub URL' }]
  }
  return hubs.map((hub) => stillThere(hub, fid, address, message?.hash))
}

async function stillThere(hub: string, fid: number, address: string, hash: string | undefined): Promise<CheckLine> {
  const name = `${address}: ${new URL(hub).host} has the message`
  const answer = await fetched(`${hub.replace(/\/+$/, '')}/v1/verificationsByFid?fid=${fid}`)
  if (typeof answer !== 'string') return { name, ...answer }
  try {
    const { messages = [] } = JSON.parse(answer) as { messages?: { hash?: string }[] }
    return { name, outcome: messages.some((message) => message.hash === hash) ? 'held' : 'failed' }
  } catch (error) {
    return { name, outcome: 'unanswered', detail: (error as Error).message }
  }
}
