import { type RequestHandler, Router } from 'express'
import { answerAlways } from '../http/answer.ts'
import { Content } from '../http/content.ts'
import { errorPagePath } from '../http/error-answer.ts'
import { errorTable } from '../http/errors.ts'
import { refuseMethod } from '../http/method.ts'
import { json } from '../http/route.ts'
import { changelogPage } from './changelog.ts'
import { errorPage, errorsPage } from './errors.ts'
import { llmsText } from './llms.ts'
import { llmsFullText } from './llms-full.ts'
import { openApiDocument } from './openapi.ts'
import { type ApiDocument, docsPage, docsPolicy } from './page.ts'

/** Cache lifetime of documents that change only with a new version of the program. */
const maxAgeSeconds = 300

/** /openapi.json: the OpenAPI document; /docs and below: the same for people; /llms.txt: a list of it all, /llms-full.txt: all of it as prose. */
export function docsRoutes(baseUrl: string): Router {
  const document = openApiDocument()
  const reference = document as unknown as ApiDocument
  const router = Router({ caseSensitive: true })
  const serve = (path: string, type: string, text: string, ...before: RequestHandler[]) => {
    router.get(path, ...before, answerAlways(new Content(type, Buffer.from(text)), maxAgeSeconds))
    router.all(path, refuseMethod(['GET', 'HEAD']))
  }
  const page = (path: string, text: string) => serve(path, 'text/html; charset=utf-8', text, givePolicy)
  serve('/openapi.json', json, JSON.stringify(document))
  serve('/llms.txt', 'text/plain; charset=utf-8', llmsText(baseUrl))
  serve('/llms-full.txt', 'text/plain; charset=utf-8', llmsFullText(reference, baseUrl))
  page('/docs', docsPage(reference, baseUrl))
  page('/docs/changelog', changelogPage())
  page('/docs/errors', errorsPage())
  for (const code of Object.keys(errorTable) as (keyof typeof errorTable)[]) page(errorPagePath(code), errorPage(code))
  return router
}

const givePolicy: RequestHandler = (_req, res, next) => {
  res.setHeader('Content-Security-Policy', docsPolicy)
  next()
}
