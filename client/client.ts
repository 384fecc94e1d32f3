import { DirectoryError } from './error.ts'
import { followEvents } from './events.ts'
import { parseExact } from './exact.ts'
import type {
  AgentProfile,
  GetAgentData,
  GetLogResponse,
  LeanRow,
  ListAgentsData,
  ListAllSettlementsData,
  ListSettlementsData,
  SearchAgentsData,
  SearchAgentsResponse,
  Settlement,
  SignedAnswer,
  Stats,
} from './generated/types.gen.ts'
import type { SigningKey } from './signed.ts'
import { type Query, Transport, type TransportOptions } from './transport.ts'

export { DirectoryError } from './error.ts'
export type * from './generated/types.gen.ts'
export { verifySigned } from './signed.ts'

/** A line of a snapshot. `text`: as it was sent, because parsing rounds amounts of more than 15 digits. */
type SnapshotLine = GetLogResponse & { readonly text: string }

/** A line of the log of profiles. `place`: cursor with which to go on after it. */
export type LogLine = SnapshotLine & { readonly place: string }

/** Pause before the log is read again after a stream was reset, milliseconds. */
const pauseMs = 1_000

/** How long caches may keep a checkpoint of the transparency log, milliseconds, and some more. */
const checkpointFreshMs = 6_000

/** The part of /exports/manifest.json that is read. */
interface Served {
  /** Cursor at which the log goes on after the profiles; null: there is no snapshot of profiles. */
  readonly log: { readonly since: string } | null
  readonly files: readonly { readonly dataset: string; readonly path: string }[]
}

type Filters<D extends { query?: object }> = Omit<NonNullable<D['query']>, 'cursor' | 'page'>

/** Client of one Agent Directory over HTTP. Methods throw DirectoryError when the service refuses. */
export class AgentDirectory {
  readonly #transport: Transport

  /** `baseUrl`: address of the service, such as `https://api.agents.example`. */
  constructor(baseUrl: string, options?: TransportOptions) {
    this.#transport = new Transport(baseUrl, options)
  }

  /** The profile of an agent. */
  agent(fid: GetAgentData['path']['fid']): Promise<AgentProfile> {
    return this.#read(`/api/agent/${fid}`)
  }

  /** The FID of the agent with this handle, in any case and with or without `@`; undefined: no agent has it. */
  async fidOf(handle: string): Promise<number | undefined> {
    const name = handle.replace(/^@/, '').toLowerCase()
    // The search puts an exact match of a handle first.
    const { agents } = await this.search({ q: `@${name}`, in: 'name', limit: 1 })
    return agents[0]?.handle?.toLowerCase() === name ? agents[0].fid : undefined
  }

  /** Agents by filter, page after page. */
  agents(filters: Filters<ListAgentsData> = {}): AsyncGenerator<LeanRow> {
    return this.#list('/api/discovery', { cursor: '', ...filters }, 'agents')
  }

  /** Settlements that an agent received, newest first, page after page. */
  settlementsOf(fid: number, filters: Filters<ListSettlementsData> = {}): AsyncGenerator<Settlement> {
    return this.#list(`/api/agent/${fid}/settlements`, { cursor: '', ...filters }, 'settlements')
  }

  /** Everybody's settlements by filter, page after page. */
  settlements(filters: Filters<ListAllSettlementsData>): AsyncGenerator<Settlement> {
    return this.#list('/api/settlements', filters, 'settlements')
  }

  /** Agents by words, best first. */
  search(query: NonNullable<SearchAgentsData['query']>): Promise<SearchAgentsResponse> {
    return this.#read('/api/search', query)
  }

  stats(): Promise<Stats> {
    return this.#read('/api/stats')
  }

  /**
   * What the service answers under a path, signed: of a profile, settlements, income, a payee or the proof of a claim. Keep
   * it as it is, and read it with `verifySigned`. Throws DirectoryError ERR_NOT_FOUND, whose detail says so, when it does not sign.
   */
  signed(path: string, query: Query = {}): Promise<SignedAnswer> {
    return this.#read(path, { ...query, signed: 1 })
  }

  /** The keys of signed answers. Throws DirectoryError ERR_NOT_FOUND when the service signs none. */
  async signingKeys(): Promise<readonly SigningKey[]> {
    return (await this.#read<{ keys: SigningKey[] }>('/.well-known/jwks.json')).keys
  }

  /**
   * Profiles that changed after `since`, the `place` of an earlier line, up to the newest; empty: from the beginning.
   * Throws DirectoryError ERR_NOT_FOUND when the place belongs to another log: begin again without one.
   */
  async *log(since = ''): AsyncGenerator<LogLine> {
    for (let next: string | undefined = `/data/log.ndjson?since=${encodeURIComponent(since)}`; next !== undefined; ) {
      const answer = await this.#transport.get(next)
      const epoch = (answer.headers.get('x-log-epoch') ?? '').slice(0, 8)
      for (const text of answer.body.split('\n').slice(0, -1)) {
        const line = lineOf(text)
        yield { ...line, place: `${epoch}-${line.seq}` }
      }
      next = answer.next
    }
  }

  /**
   * The lines that `log` gives, then every profile as it changes, without end. After a broken connection it reconnects
   * and resumes after the last line.
   */
  async *follow(since = ''): AsyncGenerator<LogLine> {
    for (let place = since; ; ) {
      for await (const line of this.log(place)) {
        place = line.place
        yield line
      }
      for await (const { id, event, data } of followEvents(this.#transport, '/data/log.sse', place || '0')) {
        if (event === 'reset') break // the place is of another log or too far back: read the log again
        place = id ?? place
        if (data !== '') yield { ...lineOf(data), place }
      }
      await this.#transport.pause(pauseMs)
    }
  }

  /**
   * Every profile of the newest snapshot, and the `place` at which the log goes on after it: far fewer requests than
   * the log from its beginning. Throws DirectoryError ERR_NOT_FOUND when the service has no snapshot.
   */
  async snapshot(): Promise<{ readonly place: string; readonly lines: AsyncIterable<SnapshotLine> }> {
    const { log, files } = await this.#read<Served>('/exports/manifest.json')
    if (log === null) throw new DirectoryError('ERR_NOT_FOUND', 404, 'there is no snapshot yet', {})
    const paths = files.filter(({ dataset }) => dataset === 'profiles').map(({ path }) => path)
    return { place: log.since, lines: this.#linesOf(paths) }
  }

  /**
   * A file of the service's transparency log, by its path below `/log/`, such as `checkpoint` or `tile/0/000.p/7`.
   * Throws DirectoryError ERR_NOT_FOUND when there is no such file.
   */
  logFile(path: string): Promise<Uint8Array> {
    return this.#transport.bytes(`/log/${path}`)
  }

  /** Waits until no cache has an earlier checkpoint of the transparency log any more. */
  afterCaches(): Promise<void> {
    return this.#transport.pause(checkpointFreshMs)
  }

  async *#linesOf(paths: readonly string[]): AsyncGenerator<SnapshotLine> {
    for (const path of paths) {
      let rest = ''
      for await (const piece of this.#transport.file(`/exports/${path}`)) {
        const lines = (rest + piece).split('\n')
        rest = lines.pop() ?? ''
        yield* lines.map(lineOf)
      }
    }
  }

  async #read<T>(path: string, query: Query = {}): Promise<T> {
    return parseExact((await this.#transport.get(path, query)).body)
  }

  async *#list<T>(path: string, query: Query, name: string): AsyncGenerator<T> {
    let answer = await this.#transport.get(path, query)
    for (;;) {
      yield* parseExact<Record<string, T[]>>(answer.body)[name] as T[]
      if (answer.next === undefined) return
      answer = await this.#transport.get(answer.next)
    }
  }
}

function lineOf(text: string): SnapshotLine {
  return { ...parseExact<GetLogResponse>(text), text }
}
