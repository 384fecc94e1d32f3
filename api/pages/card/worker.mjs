// @ts-check
// The rendering thread, in plain JavaScript so that it starts the same from the sources and from the build. It receives
// {id, svg} and answers {id, png} or {id, error}, one after another.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

const require = createRequire(import.meta.url)
/** Font files as TTF, the only format the library draws; text in any other is silently left out. */
const fonts = ['400Regular/Inter_400Regular.ttf', '700Bold/Inter_700Bold.ttf']
// The library uses only the fonts it is given, none of the system.
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
