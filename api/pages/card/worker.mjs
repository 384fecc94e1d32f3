// @ts-check
// The thread that paints, plain JavaScript so that it starts the same from the sources and from the build. It is told
// {id, svg} and answers {id, png} or {id, error}, in turn.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

const require = createRequire(import.meta.url)
/** As TTF, the one format that the library draws; of others it draws nothing and says nothing. */
const fonts = ['400Regular/Inter_400Regular.ttf', '700Bold/Inter_700Bold.ttf']
// Text is drawn with fonts that are handed over and no others.
const fontBuffers = fonts.map((name) => readFileSync(require.resolve(`@expo-google-fonts/inter/${name}`)))
await initWasm(readFileSync(require.resolve('@resvg/resvg-wasm/index_bg.wasm')))

parentPort?.on('message', ({ id, svg }) => {
  try {
    const png = paint(svg)
    parentPort?.postMessage({ id, png }, [png.buffer])
  } catch (error) {
    parentPort?.postMessage({ id, error: String(error) })
  }
})

/**
 * @param {string} svg
 * @returns {Uint8Array<ArrayBuffer>}
 */
function paint(svg) {
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: 'Inter' } })
  const image = drawing.render()
  const png = new Uint8Array(image.asPng())
  image.free()
  drawing.free()
  return png
}
