import type { Hex } from 'viem'
import type { ClaimWorld } from './proof-method.ts'

/** Problem when another, up-to-date hub lacks the message; undefined: none does. Hubs without an answer are ignored. */
export async function contradictionOf(
  hash: Hex,
  fid: number,
  { witnesses, now }: ClaimWorld,
): Promise<string | undefined> {
  const testimonies = await Promise.all(witnesses.map(({ testify }) => testify(fid, new Date(now()))))
  const against = testimonies.findIndex((testimony) => testimony.kind === 'says' && !testimony.hashes.has(hash))
  const hub = witnesses[against]?.url
  return hub && `${new URL(hub).host}, another hub, does not know its verification; try again in a few minutes`
}
