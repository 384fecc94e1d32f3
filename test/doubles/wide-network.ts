import { type Account, dataShards, newAccount, shardOf } from '../../devnet/hub/account.ts'
import { makeMessage } from '../../devnet/hub/messages.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { verificationBody } from '../../devnet/hub/verifications.ts'
import { wallet } from '../support/chain/rows.ts'

interface Size {
  /** FIDs from 1 on, of which every second verifies `wallet(fid)`. */
  readonly accounts: number
  /** Number of these accounts, evenly spread, that also have a profile and keep changes. */
  readonly agents: number
}

const founded = new Date('2026-01-01T00:00:00Z')

/** A hub's state with more accounts than fit in memory: all but agents are made on each read and keep no changes. */
export class WideNetwork extends HubState {
  override readonly accounts: MadeAccounts
  private readonly fids: ReadonlyMap<number, readonly number[]>
  private readonly spread: number

  constructor(now: () => Date, { accounts, agents }: Size) {
    super(now)
    this.accounts = new MadeAccounts(accounts)
    this.spread = 2 * Math.floor(accounts / agents / 2)
    const all = Array.from({ length: accounts }, (_, index) => index + 1)
    this.fids = new Map(dataShards.map((shard) => [shard, all.filter((fid) => shardOf(fid) === shard)]))
    this.told.accounts = accounts
    for (let agent = 1; agent <= agents; agent++) {
      const fid = this.agentFid(agent)
      this.accounts.set(fid, accountOf(fid))
      this.setProfile(fid, { username: `a${fid}`, displayName: `A ${fid}` })
    }
    this.forgetEvents()
  }

  /** FID of an agent, which are counted from 1. */
  agentFid(agent: number): number {
    return agent * this.spread
  }

  override fidsOf(shard: number): readonly number[] {
    return this.fids.get(shard) ?? []
  }

  override named(name: string): Account | undefined {
    return /^a\d+$/.test(name) ? this.accounts.get(Number(name.slice(1))) : undefined
  }

  override followersOf(): number {
    return 0
  }
}

class MadeAccounts extends Map<number, Account> {
  private readonly last: number

  constructor(last: number) {
    super()
    this.last = last
  }

  override get(fid: number): Account | undefined {
    return super.get(fid) ?? (fid >= 1 && fid <= this.last ? accountOf(fid) : undefined)
  }
}

function accountOf(fid: number): Account {
  const account = newAccount({ fid, custody: wallet(0xc000_0000 + fid), registeredAt: founded })
  if (fid % 2 === 0) {
    const address = wallet(fid)
    const body = verificationBody({ fid, address }, 'ethereum')
    const message = makeMessage(
      'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS',
      { fid, signer: account.signer, unixMs: founded.getTime() },
      body,
    )
    account.verifications.set(`ethereum:${address}`, message)
  }
  return account
}
