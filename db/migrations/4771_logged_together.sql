-- Changes of agents are appended to the transparency log together with claims, in the order of each account.
update due set kind = 'logged facts' where kind = 'logged changes';
