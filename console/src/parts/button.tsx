// Buttons: one look for what acts, and for links that are the main thing to do.
import type { LinkProps } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import type { ComponentProps, ComponentType, ReactNode } from 'react';
import styles from './button.module.css';

type Look = 'plain' | 'primary' | 'ghost' | 'danger';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly look?: Look;
  /** Only a picture is shown; `aria-label` says what it does. */
  readonly isIcon?: boolean;
}

export function Button({ look = 'plain', isIcon = false, type = 'button', ...rest }: ButtonProps) {
  // oxlint-disable-next-line react/button-has-type -- the type has a safe default
  return <button {...rest} type={type} className={lookOf(look, isIcon)} />;
}

interface IconButtonProps extends Pick<ButtonProps, 'onClick' | 'disabled' | 'aria-keyshortcuts'> {
  readonly label: string;
  readonly icon: ComponentType<{ readonly 'aria-hidden': true }>;
}

/** A picture that acts, with its name for a screen reader. */
export function IconButton({ label, icon: Icon, ...rest }: IconButtonProps) {
  return (
    <Button look="ghost" isIcon aria-label={label} {...rest}>
      <Icon aria-hidden />
    </Button>
  );
}

export function ButtonLink({
  look = 'plain',
  children,
  ...link
}: LinkProps & { readonly look?: Look; readonly children: ReactNode }) {
  return (
    <Link {...link} className={lookOf(look, false)}>
      {children}
    </Link>
  );
}

/** Saves the file at an address of the platform. */
export function FileLink({
  href,
  children,
}: {
  readonly href: string;
  readonly children: ReactNode;
}) {
  return (
    <a href={href} download className={lookOf('primary', false)}>
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
