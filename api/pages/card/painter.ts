import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { Cache } from '../../http/cache.ts'
import { Content } from '../../http/content.ts'

/** PNG of an SVG. */
export type Painter = (svg: string) => Promise<Content>

const keptBytes = 16 * 1024 * 1024
const keptMs = 86_400_000
/** Painting takes some hundredths of a second, in which nothing else is done: others have their turn in between. */
const pauseMs = 200

/** Paints one drawing at a time and keeps the pictures by their drawing. Whoever asks bounds how many wait. */
export function createPainter(now: () => number): Painter {
  const kept = new Cache<Content>({ maxBytes: keptBytes, now })
  let last: Promise<unknown> = Promise.resolve()

  async function paint(svg: string): Promise<Content> {
    const fonts = await readyFonts()
    const drawing = new Resvg(svg, { font: { fontBuffers: [...fonts], defaultFontFamily: 'Inter' } })
    const image = drawing.render()
    const png = Buffer.from(image.asPng())
    image.free()
    drawing.free()
    return new Content('image/png', png)
  }

  function inTurn(svg: string): Promise<Content> {
    const painted = last.then(() => paint(svg))
    last = painted.catch(() => {}).then(() => pause(pauseMs, undefined, { ref: false }))
    return painted
  }

  return async (svg) => {
    const key = createHash('sha256').update(svg).digest('base64url')
    return (await kept.get(key, keptMs, () => inTurn(svg))).value as Content
  }
}

const require = createRequire(import.meta.url)
/** As TTF, the one format that the library draws; of others it draws nothing and says nothing. */
const fontFiles = ['400Regular/Inter_400Regular.ttf', '700Bold/Inter_700Bold.ttf']

let ready: Promise<readonly Uint8Array[]> | undefined

/** The library's program is started once a process: a second start is an error. */
function readyFonts(): Promise<readonly Uint8Array[]> {
  ready ??= loadFonts().catch((error) => {
    ready = undefined
    throw error
  })
  return ready
}

/** Text is drawn with fonts that are handed over and no others. */
async function loadFonts(): Promise<readonly Uint8Array[]> {
  const fonts = await Promise.all(
    fontFiles.map((name) => readFile(require.resolve(`@expo-google-fonts/inter/${name}`))),
  )
  await initWasm(await readFile(require.resolve('@resvg/resvg-wasm/index_bg.wasm')))
  return fonts
}
