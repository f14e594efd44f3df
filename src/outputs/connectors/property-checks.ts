// Property checks: templates and addresses in the properties of a connector, each error with the name of its member.
import type { EgressGuard } from '../egress/guard.ts';
import { problem } from '../../model/problem.ts';
import { parseTemplate, type TemplatePlace } from '../templates/template.ts';
import type { Endpoint } from './target-uri.ts';

export class PropertyChecks {
  readonly #key: string;
  readonly #egress: EgressGuard;

  constructor(key: string, egress: EgressGuard) {
    this.#key = key;
    this.#egress = egress;
  }

  /** Throws `invalidRequest` for the member; without one, for the properties as a whole. */
  refuse(member: string | undefined, reason: string): never {
    const name = [this.#key, member].filter((part) => part !== undefined).join('.');
    throw problem('invalidRequest', { reason: `body ${name}: ${reason}` });
  }

  /** Throws for a template that cannot be parsed or that uses an unknown path. */
  template(member: string, text: string, kind: TemplatePlace = 'text'): void {
    parseTemplate(text, kind, `body ${this.#key}.${member}`);
  }

  /** Throws for a URL that is invalid or that the egress guard forbids. */
  url(member: string, url: string): void {
    this.#egress.checkUrl(url, `${this.#key}.${member}`);
  }

  /** Throws for an endpoint that could not be read or that the egress guard forbids. */
  endpoint(member: string, endpoint: Endpoint | undefined): void {
    if (endpoint === undefined) return this.refuse(member, 'is not a valid target address');
    this.#egress.checkLiteral(endpoint.host);
  }
}
