import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkpointText, logName } from '../../transparency/checkpoint.ts'
import { hashBytes, leafHash } from '../../transparency/hashes.ts'
import { type NoteSigner, noteSigner } from '../../transparency/note.ts'
import { bundleOf, hasTile, parseTilePath, perTile } from '../../transparency/tiles.ts'
import { rootOf } from '../../transparency/tree.ts'
import { MemoryTiles } from './memory-tiles.ts'

/** A key of a log, new each time. */
export const newPem = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** A log of entries as its holder wishes to show them, signed with its key whatever it signed before. */
export class HeldLog {
  readonly origin: string
  signer: NoteSigner
  entries: Buffer[]
  /** Entries that are shown in place of those that the tree is over, by number. */
  readonly shown = new Map<number, Buffer>()

  constructor(entries: readonly Buffer[], { pem = newPem(), epoch = 1, base = 'https://agents.example' } = {}) {
    this.origin = logName(base, epoch)
    this.signer = noteSigner(this.origin, pem)
    this.entries = [...entries]
  }

  async note(): Promise<string> {
    const { origin } = this
    const size = this.entries.length
    return this.signer.sign(checkpointText({ origin, size, root: await rootOf(size, (await this.tiles()).read) }))
  }

  async tiles(): Promise<MemoryTiles> {
    const tiles = new MemoryTiles()
    await tiles.append(this.entries.map(leafHash))
    return tiles
  }

  /** A file of the log by its path; undefined: there is none. */
  async file(path: string): Promise<Buffer | undefined> {
    if (path === 'checkpoint') return Buffer.from(await this.note())
    if (path === 'key') return Buffer.from(`${this.signer.key}\n`)
    const tile = parseTilePath(/^tile\/(.*)$/.exec(path)?.[1] ?? '')
    if (!tile || !hasTile(tile, this.entries.length)) return undefined
    const { level, number, width } = tile
    const from = number * perTile
    const shown = () => this.entries.map((entry, index) => this.shown.get(index) ?? entry)
    if (tile.isOfEntries) return bundleOf(shown().slice(from, from + width))
    return (await (await this.tiles()).read({ level, number })).subarray(0, width * hashBytes)
  }
}

interface LogServer {
  /** Address of the service that a reader is shown, by the reader's name: `/log/` is below it. */
  readonly urlFor: (reader: string) => string
  stop(): Promise<void>
}

/** Serves logs over HTTP, and an empty log of profiles next to each, in which nothing happens: to each reader the log that `logFor` gives. */
export async function serveLogs(logFor: (reader: string) => HeldLog): Promise<LogServer> {
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const [, reader = '', path = ''] = /^\/([^/]+)\/(.*)$/.exec(req.url ?? '') ?? []
    const [, epoch, file = ''] = /^log\/(?:(\d+)\/)?(.*)$/.exec(path) ?? []
    if (path === 'data/log.sse')
      return void res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': idle\n\n')
    const log = logFor(reader)
    const isNewest = epoch === undefined && ['checkpoint', 'key'].includes(file)
    const isOfLog = isNewest || log.origin.endsWith(epoch === undefined ? '/log' : `/log/${epoch}`)
    const bytes = path.startsWith('data/log.ndjson') ? Buffer.alloc(0) : isOfLog ? await log.file(file) : undefined
    res.writeHead(bytes ? 200 : 404, { 'X-Log-Epoch': 'aaaaaaaa' }).end(bytes)
  }
  const server = createServer((req, res) => void answer(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    urlFor: (reader) => `http://127.0.0.1:${port}/${reader}`,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
