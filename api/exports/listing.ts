import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Content } from '../http/content.ts'
import { json } from '../http/route.ts'

const listedFile = z.object({ path: z.string(), bytes: z.number(), sha256: z.string().regex(/^[0-9a-f]{64}$/) })
const manifest = z.object({ version: z.literal(1), files: z.array(listedFile), replaced: z.array(listedFile) })

export type ListedFile = z.output<typeof listedFile>

interface Listing {
  /** Files of the manifest by path below the folder: the current ones, and those replaced lately. */
  readonly files: ReadonlyMap<string, ListedFile>
  /** Contents of manifest.json and datapackage.json, by file name. */
  readonly lists: ReadonlyMap<string, Content>
}

const none: Listing = { files: new Map(), lists: new Map() }
const listNames = ['manifest.json', 'datapackage.json']

/** Listing of a folder of served files, read again whenever its manifest changes, which is written last. */
export class Listings {
  #of = ''
  #reading: Promise<Listing> = Promise.resolve(none)

  constructor(private readonly folder: string) {}

  /** The current listing; empty while the folder has no manifest. Rejects when the manifest is invalid. */
  async present(): Promise<Listing> {
    const found = await stat(join(this.folder, 'manifest.json'), { bigint: true }).catch(ifMissing)
    const mark = found ? `${found.ino} ${found.mtimeNs} ${found.size}` : ''
    if (mark !== this.#of) {
      this.#of = mark
      this.#reading = mark === '' ? Promise.resolve(none) : this.#read()
      this.#reading.catch(() => {
        if (this.#of === mark) this.#of = '' // the next one tries again
      })
    }
    return this.#reading
  }

  async #read(): Promise<Listing> {
    const lists = new Map<string, Content>()
    for (const name of listNames) {
      const text = await readFile(join(this.folder, name)).catch(ifMissing) // a copy of the folder may lack the package
      if (text) lists.set(name, new Content(json, text))
    }
    const { files, replaced } = manifest.parse(JSON.parse(String(lists.get('manifest.json')?.text)))
    return { lists, files: new Map([...replaced, ...files].map((file) => [file.path, file])) }
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
