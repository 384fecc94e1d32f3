import { createHash } from 'node:crypto'
import { farmMakes, type Habit, type Make } from './habits.ts'

// A generated history of feedback: honest clients of many habits, and farms of several makes among them.

export interface FarmsSize {
  /** Clients of each farm. */
  readonly farm: number
  /** Honest clients, about. */
  readonly honest: number
  readonly seed: number
}

interface Paid {
  readonly payer: string
  readonly payee: string
  readonly minute: number
  /** Base units. */
  readonly amount: number
}
interface Rated {
  readonly client: string
  readonly agent: number
  readonly minute: number
}

/** What happened, with minutes since the beginning. */
export interface FarmsHistory {
  readonly paid: readonly Paid[]
  readonly rated: readonly Rated[]
  /** Holders of the registrations, by their number from 0 on. */
  readonly holders: readonly string[]
  readonly clients: ReadonlyMap<string, Make | Habit>
}

export const historyMinutes = 180 * 24 * 60
/** Clients of one registration of a farm. */
const perRegistration = 2_000
/** A cent, in base units. */
const usualAmount = 10_000

export function generateHistory(size: FarmsSize): FarmsHistory {
  const world = new World(size)
  world.market()
  for (const make of farmMakes) world.farm(make)
  return world
}

/** A random number from 0 to below 1 at each call, the same sequence for a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

class World implements FarmsHistory {
  readonly paid: Paid[] = []
  readonly rated: Rated[] = []
  readonly holders: string[] = []
  readonly clients = new Map<string, Make | Habit>()
  private readonly random: () => number
  private addresses = 0
  /** Registrations that are used for money, and for nothing, most used first. */
  private readonly priced: number[] = []
  private readonly free: number[] = []

  constructor(private readonly size: FarmsSize) {
    this.random = randomOf(size.seed)
  }

  /** Honest clients. Some of them rate what farms rate, too. */
  market(): void {
    const { honest } = this.size
    const share = (part: number) => Math.round(honest * part)
    for (let n = 0; n < Math.max(20, honest / 40); n++) this.priced.push(this.register(this.address()))
    for (let n = 0; n < Math.max(10, honest / 100); n++) this.free.push(this.register(this.address()))
    const exchanges = [0.5, 0.3, 0.02].map((part) => ({ hot: this.address(), others: share(part) }))
    for (const { hot, others } of exchanges)
      for (let n = 0; n < others; n++) this.pay(hot, this.address(), this.minute())
    for (let n = 0; n < share(0.3); n++) {
      const { hot } = exchanges[Math.min(2, Math.floor(this.random() ** 2 * 3))] as { hot: string }
      this.customer('customer of an exchange', hot)
    }
    for (let n = 0; n < share(0.2); n++) this.customer('customer of unknown funds')
    for (let n = 0; n < share(0.25); n++) this.freeUser()
    for (let left = share(0.1); left > 0; ) left -= this.launch()
    for (let left = share(0.08); left > 0; ) left -= this.agents(Math.min(left, 2 + this.below(200)))
    for (let left = share(0.04); left > 0; ) left -= this.fleet(2 + this.below(40))
    for (let left = share(0.03); left > 0; ) left -= this.faucet(Math.min(left, 300))
    for (let left = share(0.02); left > 0; ) left -= this.freeAgents(Math.min(left, 2 + this.below(200)))
    for (let left = share(0.02); left > 0; ) left -= this.ratingBack(Math.min(left, 2 + this.below(30)))
    for (let left = share(0.02); left > 0; ) left -= this.dusted(Math.min(left, 40))
    for (let left = share(0.02); left > 0; left -= 2) this.sellersOfEachOther()
  }

  farm(make: Make): void {
    const owned = Math.max(1, Math.round(this.size.farm / perRegistration))
    const agents = Array.from({ length: owned }, () => this.register(this.address()))
    const wallets = Array.from({ length: this.size.farm }, () => this.client(make))
    const begin = this.below(historyMinutes / 2)
    this.build[make](wallets, agents, begin)
    // An honest client of five hundred rates one of them as well.
    const honest = [...this.clients].filter(([, kind]) => !farmMakes.includes(kind as Make))
    for (let n = 0; n < this.size.honest / 500 / farmMakes.length; n++) {
      const [client] = this.one(honest)
      this.rate(client, this.one(agents), begin + this.below(historyMinutes / 2))
    }
  }

  private readonly build: Record<Make, (wallets: readonly string[], agents: readonly number[], begin: number) => void> =
    {
      'one funder': (wallets, agents, begin) => {
        const funder = this.address()
        for (const wallet of wallets) this.fundAndUse(funder, wallet, agents, begin + this.below(3 * 1_440))
      },
      'sub-funders': (wallets, agents, begin) => {
        const subs = Array.from({ length: Math.ceil(wallets.length / 50) }, () => this.address())
        const funder = this.address()
        for (const sub of subs) this.pay(funder, sub, begin)
        for (const [n, wallet] of wallets.entries())
          this.fundAndUse(subs[n % subs.length] as string, wallet, agents, begin + 1 + this.below(30 * 1_440))
      },
      'funding chain': (wallets, agents, begin) => {
        const funder = this.address()
        for (const [n, wallet] of wallets.entries()) {
          const before = n % 1_000 === 0 ? funder : (wallets[n - 1] as string)
          this.fundAndUse(before, wallet, agents.slice(0, 1), begin + n)
        }
      },
      'slow drip': (wallets, agents) => {
        const funder = this.address()
        const each = (historyMinutes - 1_440) / wallets.length
        for (const [n, wallet] of wallets.entries()) {
          const at = Math.floor(n * each)
          this.pay(funder, wallet, at)
          this.rate(wallet, this.one(agents), at + 1 + this.below(1_000))
        }
      },
      'never paying': (wallets, agents) => {
        for (const wallet of wallets)
          for (const agent of this.some(agents, 1 + this.below(2))) this.rate(wallet, agent, this.minute())
      },
      // The same, and each pays anybody what is least of money.
      'paying dust': (wallets, agents, begin) => {
        for (const wallet of wallets) this.pay(wallet, this.one(this.holders), begin, 1)
        this.build['never paying'](wallets, agents, begin)
      },
      'one hour': (wallets, agents, begin) => {
        const hour = begin - (begin % 60)
        for (const wallet of wallets) this.rate(wallet, this.one(agents), hour + this.below(60))
      },
      circles: (wallets, _agents, begin) => {
        this.circles(wallets, begin)
      },
      // Money from elsewhere, and a payment to somebody, which is what honest clients have.
      disguised: (wallets, agents) => {
        for (const wallet of wallets) {
          const at = this.below(historyMinutes - 2)
          this.pay(wallet, this.holders[this.popular(this.priced)] as string, at)
          this.rate(wallet, this.one(agents), at + 1)
        }
      },
      // What is least of money, from one of each circle to the next.
      'circles with a payment': (wallets, _agents, begin) => {
        for (const { ring } of this.circles(wallets, begin)) this.pay(ring[0] as string, ring[1] as string, begin, 1)
      },
      // One or two more each, at no cost: of others in the circle, and of agents that honest clients use.
      'circles with more': (wallets, _agents, begin) => {
        for (const { ring, own } of this.circles(wallets, begin))
          for (const wallet of ring)
            for (let more = 1 + this.below(2); more > 0; more--) {
              const market = this.random() < 0.5 ? this.priced : this.free
              this.rate(
                wallet,
                this.random() < 0.5 ? this.one(own) : this.popular(market),
                begin + this.below(90 * 1_440),
              )
            }
      },
      // One or two more each, of members of other circles.
      'circles across': (wallets, _agents, begin) => {
        const circles = this.circles(wallets, begin)
        const all = circles.flatMap(({ own }) => own)
        for (const wallet of wallets)
          for (const other of this.some(all, 1 + this.below(2)))
            this.rate(wallet, other, begin + this.below(90 * 1_440))
      },
    }

  /** Wallets that rate registrations of each other in circles. Returns both of each. */
  private circles(wallets: readonly string[], begin: number): { ring: string[]; own: number[] }[] {
    const circles: { ring: string[]; own: number[] }[] = []
    for (let at = 0; at < wallets.length; ) {
      const left = wallets.length - at
      // None is left alone.
      const length = left <= 6 ? left : Math.min(2 + this.below(5), left - 2)
      const ring = wallets.slice(at, at + length)
      const own = ring.map((wallet) => this.register(wallet))
      for (const [n, wallet] of ring.entries())
        this.rate(wallet, own[(n + 1) % own.length] as number, begin + this.below(90 * 1_440))
      circles.push({ ring, own })
      at += length
    }
    return circles
  }

  /** Pays some agents and rates most of them; the first ones of the list get the most. */
  private customer(habit: Habit, funder?: string): void {
    const client = this.client(habit)
    const begin = this.minute()
    if (funder) this.pay(funder, client, begin)
    this.use(client, begin, 1 + this.below(5))
  }

  private use(client: string, begin: number, times: number): void {
    const used = Array.from({ length: times }, () => this.popular(this.priced))
    for (const [n, agent] of [...new Set(used)].entries()) {
      const at = begin + 1 + this.below(20_000)
      this.pay(client, this.holders[agent] as string, at)
      if (n === 0 || this.random() < 0.6) this.rate(client, agent, at + 1 + this.below(1_440))
    }
    if (this.random() < 0.4) this.rate(client, this.popular(this.free), begin + this.below(40_000))
  }

  private freeUser(): void {
    const client = this.client('user of free agents')
    const begin = this.minute()
    for (let n = 0; n <= this.below(3); n++) this.rate(client, this.popular(this.free), begin + this.below(40_000))
  }

  /** Everybody tries a new agent in its first hour: some were there before, and some pay somebody later. */
  private launch(): number {
    const agent = this.register(this.address())
    const crowd = 30 + this.below(270)
    const hour = Math.floor(this.below(historyMinutes / 2) / 60) * 60
    const known = 0.08 + this.random() * 0.4
    const staying = 0.05 + this.random() * 0.3
    for (let n = 0; n < crowd; n++) {
      const client = this.client('launch day')
      if (this.random() < known) this.rate(client, this.popular(this.free), this.below(hour))
      this.rate(client, agent, hour + this.below(60))
      if (this.random() < staying) this.use(client, hour + 60, 1 + this.below(2))
    }
    return crowd
  }

  /** Agents that buy from each other, and say so: who was paid first by whom is a tree, and many rate each other. */
  private agents(many: number): number {
    const own = Array.from({ length: many }, () => this.client('agent among agents'))
    const registered = own.map((client) => this.register(client))
    const begin = this.below(historyMinutes / 2)
    for (const [n, client] of own.entries()) {
      if (n > 0) this.pay(own[this.below(n)] as string, client, begin + n)
      for (let times = 0; times <= this.below(4); times++) {
        const other = this.below(many)
        if (other === n) continue
        const at = begin + many + this.below(40_000)
        if (this.random() < 0.6) this.pay(client, own[other] as string, at)
        this.rate(client, registered[other] as number, at + 1)
      }
      this.use(client, begin + many, 1 + this.below(2))
      // Customers of their own.
      for (let times = 0; times < 2; times++) {
        const customer = this.client('customer of unknown funds')
        this.pay(customer, client, begin + many + this.below(40_000))
        this.rate(customer, registered[n] as number, begin + many + 40_000 + this.below(1_000))
      }
    }
    return many
  }

  /** Agents that nobody pays, and that use each other. Three of four have users besides. */
  private freeAgents(many: number): number {
    const own = Array.from({ length: many }, () => this.client('agent that costs nothing'))
    const registered = own.map((client) => this.register(client))
    for (const [n, client] of own.entries()) {
      for (let times = this.below(4); times >= 0; times--) this.rate(client, this.one(registered), this.minute())
      for (let users = this.below(4); users > 0; users--)
        this.rate(this.client('user of free agents'), registered[n] as number, this.minute())
    }
    return many
  }

  /** Critics of an agent that costs nothing, with registrations of their own, whom it rates back: one, some or all of them. */
  private ratingBack(many: number): number {
    const seller = this.client('seller who rates back')
    const registered = this.register(seller)
    const critics = Array.from({ length: many }, () => this.client('critic rated back'))
    const part = this.random()
    for (const [n, critic] of critics.entries()) {
      const at = this.minute()
      const own = this.register(critic)
      this.rate(critic, registered, at)
      for (let more = this.below(3); more > 0; more--) this.rate(critic, this.popular(this.free), this.minute())
      if (n === 0 || this.random() < part) this.rate(seller, own, at + 1 + this.below(1_000))
    }
    for (let users = 1 + this.below(6); users > 0; users--)
      this.rate(this.client('user of free agents'), registered, this.minute())
    return many
  }

  /** Customers of one agent. Before, somebody sent dust to all of them: to most directly, to some one after another. */
  private dusted(many: number): number {
    const sender = this.address()
    const agent = this.popular(this.priced)
    const begin = this.below(historyMinutes / 2)
    let before = sender
    for (let n = 0; n < many; n++) {
      const client = this.client('dusted customer')
      this.pay(n % 4 === 0 ? before : sender, client, begin + n, 1 + this.below(900))
      before = client
      this.pay(client, this.holders[agent] as string, begin + many + n)
      this.rate(client, agent, begin + many + n + 1 + this.below(1_000))
    }
    return many
  }

  /** Two that rate each other, without paying; others rate each of them as well. */
  private sellersOfEachOther(): void {
    const sellers = [0, 1].map(() => this.client('seller who rates back'))
    const registered = sellers.map((seller) => this.register(seller))
    for (const [n, seller] of sellers.entries()) {
      this.rate(seller, registered[1 - n] as number, this.minute())
      for (let users = 3 + this.below(20); users > 0; users--)
        this.rate(this.client('user of free agents'), registered[n] as number, this.minute())
    }
  }

  /** Wallets of one owner, who funds them for their work. */
  private fleet(many: number): number {
    const owner = this.address()
    const begin = this.minute()
    for (let n = 0; n < many; n++) {
      const client = this.client('fleet of one owner')
      this.pay(owner, client, begin)
      this.use(client, begin, 1 + this.below(4))
    }
    return many
  }

  /** Pays back, or gives something to begin with, to ten times as many as rate. */
  private faucet(many: number): number {
    const faucet = this.address()
    for (let n = 0; n < many * 9; n++) this.pay(faucet, this.address(), this.minute())
    for (let n = 0; n < many; n++) this.customer('paid back by a faucet', faucet)
    return many
  }

  private fundAndUse(funder: string, wallet: string, agents: readonly number[], at: number): void {
    this.pay(funder, wallet, at)
    for (const agent of this.some(agents, 1 + this.below(2))) {
      this.pay(wallet, this.holders[agent] as string, at + 1)
      this.rate(wallet, agent, at + 2 + this.below(600))
    }
  }

  private register(holder: string): number {
    this.holders.push(holder)
    return this.holders.length - 1
  }

  private client(kind: Make | Habit): string {
    const address = this.address()
    this.clients.set(address, kind)
    return address
  }

  private address(): string {
    this.addresses += 1
    return createHash('sha256').update(`${this.size.seed} ${this.addresses}`).digest('hex').slice(0, 40)
  }

  private pay(payer: string, payee: string, minute: number, amount = usualAmount): void {
    if (payer !== payee) this.paid.push({ payer, payee, minute: Math.min(minute, historyMinutes), amount })
  }

  private rate(client: string, agent: number, minute: number): void {
    if (this.holders[agent] !== client) this.rated.push({ client, agent, minute: Math.min(minute, historyMinutes) })
  }

  private minute = () => this.below(historyMinutes)
  private below = (limit: number) => Math.floor(this.random() * limit)
  private one = <T>(list: readonly T[]) => list[this.below(list.length)] as T
  private some = <T>(list: readonly T[], many: number) => [
    ...new Set(Array.from({ length: many }, () => this.one(list))),
  ]
  /** One of a list, the first ones far more often. */
  private popular = (list: readonly number[]) => list[Math.floor(this.random() ** 3 * list.length)] as number
}
