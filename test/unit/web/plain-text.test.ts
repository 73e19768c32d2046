/** Text of others stays text. */
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { PlainText, safeHref, textPieces } from '../../../src/web/plain-text.tsx'

const html = (text: string): string => renderToStaticMarkup(createElement(PlainText, { text }))

describe('plain text', () => {
  it('makes links of http addresses only, without the stop of the sentence', () => {
    expect(textPieces('See https://a.b/c?d=1. Then (http://e.f).')).toEqual([
      { text: 'See ' },
      { text: 'https://a.b/c?d=1', href: 'https://a.b/c?d=1' },
      { text: '. Then (' },
      { text: 'http://e.f', href: 'http://e.f/' },
      { text: ').' },
    ])
  })

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    ' javascript:x',
    '//a.b',
    '',
  ])('makes no link of %j', (address) => {
    expect(safeHref(address)).toBeUndefined()
    expect(html(address)).not.toContain('<a')
  })

  it('makes no element of what looks like one', () => {
    expect(html('<script>alert(1)</script><img src=x onerror=alert(1)>')).toBe(
      '&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;',
    )
  })

  it('lets no address out of its attribute', () => {
    expect(html('https://a.b/"onclick="alert(1)')).toContain('href="https://a.b/"')
    expect(html("https://a.b/'x")).not.toContain("href='")
  })

  it('tells the other side nothing of the page', () => {
    expect(html('https://a.b/c')).toBe(
      '<a href="https://a.b/c" rel="noreferrer noopener" target="_blank">https://a.b/c</a>',
    )
  })
})
