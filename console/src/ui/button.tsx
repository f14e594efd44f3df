// Buttons: one look for what acts, and for links that are the main thing to do.
import type { LinkProps } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import type { ComponentProps, ComponentType, ReactNode } from 'react';
import { type Need, useMayDo } from '../session/permissions.ts';
import { useWords } from '../words/language.tsx';
import styles from './button.module.css';
import { partWords } from './part-words.ts';

type Look = 'plain' | 'primary' | 'ghost' | 'danger';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly look?: Look;
  /** Only a picture is shown; `aria-label` says what it does. */
  readonly isIcon?: boolean;
  /** The permission of what it does: without it the button cannot be pressed, and says why. */
  readonly needs?: Need | undefined;
}

export function Button({ needs, ...rest }: ButtonProps) {
  return needs === undefined ? <PlainButton {...rest} /> : <Gated needs={needs} {...rest} />;
}

function Gated({ needs, ...rest }: ButtonProps & { readonly needs: Need }) {
  const words = useWords(partWords);
  return useMayDo(needs) ? (
    <PlainButton {...rest} />
  ) : (
    <PlainButton {...rest} disabled title={words.needs(needs)} />
  );
}

function PlainButton({ look = 'plain', isIcon = false, type = 'button', ...rest }: ButtonProps) {
  // oxlint-disable-next-line react/button-has-type -- the type has a safe default
  return <button {...rest} type={type} data-look={look} className={lookOf(look, isIcon)} />;
}

interface IconButtonProps
  extends Pick<ButtonProps, 'onClick' | 'disabled' | 'aria-keyshortcuts' | 'needs'> {
  readonly label: string;
  readonly icon: ComponentType<{ readonly 'aria-hidden': true }>;
}

/** A picture that acts, with its name for a screen reader. */
export function IconButton({ label, icon: Icon, ...rest }: IconButtonProps) {
  return (
    <Button look="ghost" isIcon aria-label={label} title={label} {...rest}>
      <Icon aria-hidden />
    </Button>
  );
}

/** What is done on a page, so that a link to it needs the same. */
const pageNeeds: Readonly<Record<string, Need>> = {
  '/w/$workspaceId/devices/new': 'asset: create',
  '/w/$workspaceId/devices/import': 'asset: create',
  '/w/$workspaceId/rules/new': 'rule: create',
  '/w/$workspaceId/outputs/new': 'dataFlow: create',
  '/w/$workspaceId/flows/new': 'dataFlow: create',
  '/w/$workspaceId/flows/integrations/new': 'integration: create',
  '/welcome': 'asset: create',
};

type ButtonLinkProps = LinkProps & { readonly look?: Look; readonly children: ReactNode };

export function ButtonLink(props: ButtonLinkProps) {
  const needs = pageNeeds[props.to ?? ''];
  return needs === undefined ? <OpenLink {...props} /> : <GatedLink needs={needs} {...props} />;
}

function GatedLink({ needs, ...props }: ButtonLinkProps & { readonly needs: Need }) {
  if (useMayDo(needs)) return <OpenLink {...props} />;
  return (
    <Gated needs={needs} {...(props.look === undefined ? {} : { look: props.look })}>
      {props.children}
    </Gated>
  );
}

function OpenLink({ look = 'plain', children, ...link }: ButtonLinkProps) {
  return (
    <Link {...link} data-look={look} className={lookOf(look, false)}>
      {children}
    </Link>
  );
}

/** Saves the file at an address of the platform. */
export function FileLink({
  href,
  look = 'primary',
  children,
}: {
  readonly href: string;
  readonly look?: Look;
  readonly children: ReactNode;
}) {
  return (
    <a href={href} download data-look={look} className={lookOf(look, false)}>
      {children}
    </a>
  );
}

function lookOf(look: Look, isIcon: boolean): string {
  const names = [
    styles['button'],
    look === 'plain' ? '' : styles[look],
    isIcon ? styles['icon'] : '',
  ];
  return names.filter(Boolean).join(' ');
}
