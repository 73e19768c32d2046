/** The registry of skills: one for `activate_skill` and for the tool `Skill`. */
import { StelloError } from '../core/errors.ts'
import { Late } from '../core/late.ts'
import type { Skill } from '../core/skill.ts'
import { checkSkill } from './skill-rules.ts'

/**
 * A registry of skills, in order of registration.
 *
 * @example
 * const skillRouter = new SkillRouterImpl()
 * for (const skill of await loadSkillsFromDirectory('~/my-skills')) skillRouter.register(skill)
 */
export class SkillRouterImpl {
  readonly #skills = new Map<string, Skill>()
  readonly #late = new Late('INVALID_ARGUMENT')

  /**
   * Adds a skill.
   *
   * @throws StelloError INVALID_ARGUMENT when a field is missing or wrong, when the name is taken, or when a worker that uses the
   *   registry has started
   */
  register(skill: Skill): this {
    this.#late.refuse(`skill "${String(skill.name)}"`)
    for (const field of ['name', 'description', 'content'] as const) {
      if (typeof skill[field] === 'string' && skill[field].trim() !== '') continue
      throw new StelloError('INVALID_ARGUMENT', `skill "${String(skill.name)}": ${field} must be text and not empty`)
    }
    checkSkill(skill)
    if (this.#skills.has(skill.name)) {
      throw new StelloError(
        'INVALID_ARGUMENT',
        `skill "${skill.name}" is registered twice; rename or remove one of them`,
      )
    }
    this.#skills.set(skill.name, skill)
    return this
  }

  /**
   * Closes the registry: all workers of an agent must have the same entries, so nothing may be added after the first starts.
   *
   * @param by who uses it, for the error
   */
  seal(by: string): void {
    this.#late.seal(by)
  }

  /** The skill of that name; undefined when there is none. */
  get(name: string): Skill | undefined {
    return this.#skills.get(name)
  }

  /** All skills. */
  list(): Skill[] {
    return [...this.#skills.values()]
  }
}
