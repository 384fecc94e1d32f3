import { type Block, carOf, fileBlocks, rawBlock } from '../world/blocks.ts'
import { type Page, startWebHost, type WebHost } from './web-host.ts'

export interface IpfsGateway extends WebHost {
  /** Makes content available as one raw block and returns its identifier. */
  add(content: string): string
  /** Makes content available as a tree of blocks, and at a path of a directory; returns the identifiers of both. */
  addFile(name: string, content: string, bytesPerBlock?: number): { file: string; directory: string }
}

/** A gateway to content in memory, by path: `/ipfs/<identifier>`; with `?format=car` as the blocks it is made of. */
export async function startGateway(options: { port?: number } = {}): Promise<IpfsGateway> {
  const host = await startWebHost(options)
  const offer = (path: string, content: string, blocks: readonly Block[]) => {
    const file: Page = { body: Buffer.from(content), headers: { 'content-type': 'application/json' } }
    const archive: Page = { body: carOf(blocks), headers: { 'content-type': 'application/vnd.ipld.car; version=1' } }
    host.pages.set(`/ipfs/${path}`, (_method, _body, query) => (query.get('format') === 'car' ? archive : file))
  }
  return {
    ...host,
    add(content) {
      const block = rawBlock(content)
      offer(`${block.cid}`, content, [block])
      return `${block.cid}`
    },
    addFile(name, content, bytesPerBlock) {
      const { directory, file, leaves } = fileBlocks(name, content, bytesPerBlock)
      offer(`${file.cid}`, content, [file, ...leaves])
      offer(`${directory.cid}/${encodeURIComponent(name)}`, content, [directory, file, ...leaves])
      return { file: `${file.cid}`, directory: `${directory.cid}` }
    },
  }
}
