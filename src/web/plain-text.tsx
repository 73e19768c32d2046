/**
 * Text of models, tools and people, as text. Only addresses that begin with http become links, and they tell the other side
 * nothing of this page. Must never make HTML of what it is given.
 */
import type { ReactNode } from 'react'

/** A piece of a text. `href`: it is an address. */
export interface TextPiece {
  text: string
  href?: string
}

const ADDRESS = /\bhttps?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}]/gi

/** @example textPieces('see https://a.b.') // [{ text: 'see ' }, { text: 'https://a.b', href: 'https://a.b/' }, { text: '.' }] */
export function textPieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const href = safeHref(found)
    if (href === undefined) continue
    if (index > end) pieces.push({ text: text.slice(end, index) })
    pieces.push({ text: found, href })
    end = index + found.length
  }
  if (end < text.length) pieces.push({ text: text.slice(end) })
  return pieces
}

/** The address, if it is one of http or https; undefined for `javascript:` and everything else. */
export function safeHref(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, href } = new URL(address)
  return protocol === 'http:' || protocol === 'https:' ? href : undefined
}

/** @param props.text anything */
export function PlainText({ text }: { text: string }): ReactNode {
  return textPieces(text).map(({ text: piece, href }, index) =>
    href === undefined ? (
      piece
    ) : (
      <a key={index} href={href} rel="noreferrer noopener" target="_blank">
        {piece}
      </a>
    ),
  )
}
