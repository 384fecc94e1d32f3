import { Router } from 'express'
import { answerAlways } from '../http/answer.ts'
import { Content } from '../http/content.ts'
import { refuseMethod } from '../http/method.ts'
import { json } from '../http/route.ts'
import { openApiDocument } from './openapi.ts'
import { type ApiDocument, docsPage, docsPolicy } from './page.ts'

/** They change with the program alone. */
const maxAgeSeconds = 300

/** /openapi.json: the OpenAPI document; /docs: the same for people. */
export function docsRoutes(baseUrl: string): Router {
  const document = openApiDocument()
  const page = docsPage(document as unknown as ApiDocument, baseUrl)
  const router = Router({ caseSensitive: true })
  router.get('/openapi.json', answerAlways(new Content(json, Buffer.from(JSON.stringify(document))), maxAgeSeconds))
  router.get(
    '/docs',
    (_req, res, next) => {
      res.setHeader('Content-Security-Policy', docsPolicy)
      next()
    },
    answerAlways(new Content('text/html; charset=utf-8', Buffer.from(page)), maxAgeSeconds),
  )
  router.all(['/openapi.json', '/docs'], refuseMethod(['GET', 'HEAD']))
  return router
}
