/** A part of the page that may fail alone: what it shows comes from models and tools, and must not take the rest with it. */
import { Component, type ReactNode } from 'react'

interface Props {
  /** Shown instead once the part has failed. */
  instead: ReactNode
  children: ReactNode
}

export class Fenced extends Component<Props, { failed: boolean }> {
  override state: { failed: boolean } = { failed: false }

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true }
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.instead : this.props.children
  }
}
