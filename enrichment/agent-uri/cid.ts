import { base16, base16upper } from 'multiformats/bases/base16'
import { base32, base32upper } from 'multiformats/bases/base32'
import { base36, base36upper } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'

/** Longest identifier looked at, in characters or bytes; a CIDv1 of SHA-512 in base32 has 112 characters. */
export const maxCidLength = 128
const bases = base32.decoder
  .or(base32upper.decoder)
  .or(base36.decoder)
  .or(base36upper.decoder)
  .or(base16.decoder)
  .or(base16upper.decoder)
  .or(base58btc.decoder)

/** Parses an IPFS identifier; undefined: no CID of version 0 or 1. Source: multiformats/cid, "Decoding Algorithm". */
export function parseCid(text: string): CID | undefined {
  // What begins with a Q is read as base 58 without a prefix, and only a CIDv0 is written so.
  if (text.length > maxCidLength || !/^([bBfFkKz]|Qm.{44}$)/.test(text)) return undefined
  try {
    const cid = CID.parse(text, bases)
    return cid.multihash.size > 0 ? cid : undefined
  } catch {
    return undefined
  }
}
