-- A circle accuses who rates those whom hardly anybody else rates. Those accused are searched again.
insert into due (kind, key) select 'circles', subject from feedback_group where rule = 'circle';
