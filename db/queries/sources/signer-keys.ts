import type { Queryable } from '../../pool.ts'

/** A message that adds an app key off the chain. */
export interface StoredKeyAdd {
  readonly fid: number
  /** 32 bytes. */
  readonly key: Uint8Array
  /** Who signed for it, lowercase hex with 0x. */
  readonly signer: string
  /** As received. */
  readonly message: unknown
}

/** Keeps messages that add keys. Of two about one key the later stays. */
export async function storeKeyAdds(db: Queryable, adds: readonly StoredKeyAdd[]): Promise<void> {
  for (const { fid, key, signer, message } of adds) {
    await db.query({
      name: 'store-key-add',
      text: `
insert into signer_key (fid, key, key_add, key_add_signer) values ($1, $2, $3, $4)
    on conflict (fid, key) do update set key_add = excluded.key_add, key_add_signer = excluded.key_add_signer`,
      values: [fid, key, JSON.stringify(message), Buffer.from(signer.slice(2), 'hex')],
    })
  }
}

interface StoredKeyFacts {
  /** Block in which the FID last changed hands; null: never. */
  readonly transferBlock: number | null
  /** Who had the FID before, lowercase hex with 0x. */
  readonly formerCustodies: readonly `0x${string}`[]
  /** Who signed for the key off the chain; null: no such message is known. */
  readonly keyAddSigner: `0x${string}` | null
}

/** What is known of a key of a FID before anybody is asked. */
export async function keyFactsOf(db: Queryable, fid: number, key: Uint8Array): Promise<StoredKeyFacts> {
  const { rows } = await db.query<StoredKeyFacts>({
    name: 'key-facts-of',
    text: `
select (select max(block_number) from fid_custody where fid = $1) as "transferBlock",
       array(select distinct '0x' || encode("from", 'hex') from fid_custody where fid = $1 order by 1)
         as "formerCustodies",
       (select '0x' || encode(key_add_signer, 'hex') from signer_key where fid = $1 and key = $2) as "keyAddSigner"`,
    values: [fid, key],
  })
  return rows[0] as StoredKeyFacts
}

/** Where a key was found to stand. */
export interface StoredKeyStanding {
  readonly fid: number
  readonly key: Uint8Array
  readonly source: 'chain' | 'offchain' | null
  readonly beforeCustody: boolean
  /** Block of the transfer that it was judged by; null: there was none. */
  readonly custodyBlock: number | null
}

export async function storeKeyStandings(db: Queryable, keys: readonly StoredKeyStanding[], now: Date): Promise<void> {
  for (const { fid, key, source, beforeCustody, custodyBlock } of keys) {
    await db.query({
      name: 'store-key-standing',
      text: `
insert into signer_key (fid, key, source, before_custody, custody_block, checked_at) values ($1, $2, $3, $4, $5, $6)
    on conflict (fid, key) do update
   set source = excluded.source, before_custody = excluded.before_custody, custody_block = excluded.custody_block,
       checked_at = excluded.checked_at`,
      values: [fid, key, source, beforeCustody, custodyBlock, now],
    })
  }
}
