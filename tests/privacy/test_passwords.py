"""A password is a value with the shape of one, where words or signs say that it follows."""

from __future__ import annotations

import pytest

from memory_rag.privacy.finding import find


def passwords(text: str) -> list[str]:
    return [one.span.of(text) for one in find(text) if one.kind == "password"]


@pytest.mark.parametrize(("text", "value"), [
    ("my password is Granola77!", "Granola77!"),
    ("I set the password to Granola-77, ok?", "Granola-77"),
    ("Password for the router: Granola77", "Granola77"),
    ("the passphrase was `Granola77`.", "Granola77"),
    ("lösenordet är Gråsparv_9", "Gråsparv_9"),
    ("Lösenordet till skrivaren blev Gråsparv9", "Gråsparv9"),
    ("LÖSENORD: Gråsparv9", "Gråsparv9"),
    ("passordet er Blåbær2go", "Blåbær2go"),
    ("passordet ble endret til Blåbær2go!", "Blåbær2go!"),
    ("das Passwort lautet Milch&Brot7", "Milch&Brot7"),
    ("密码是Granola77。", "Granola77"),
    ("пароль: Granola77", "Granola77"),
    ("PGPASSWORD=Granola77 psql", "Granola77"),
    ("spring.datasource.password: Granola77", "Granola77"),
    ('{"passwd":"Granola77","user":"x"}', "Granola77"),
    ("user=x&password=Granola77&next=/", "Granola77"),
    ("mysql -u root -pGranola77 shop", "Granola77"),
    ("sshpass -p Granola77 ssh host", "Granola77"),
    ("curl --user rota:Granola77 https://x.example", "Granola77"),
    ("amqp://rota:Granola77@queue.example:5672/%2f", "Granola77"),
    ("password: 48151623", "48151623"),
    ("lo\u0308senordet a\u0308r Gra\u030asparv_9, va\u0308n", "Gra\u030asparv_9"),
    ("ハ\u309aスワート\u3099はGranola77です", "Granola77"),
    ("şifre: Granola77", "Granola77"),
    ("كلمة المرور: Granola77", "Granola77"),
    (r'{\"user\": \"x\", \"password\": \"Granola77\"}', "Granola77"),
    (r'{\\\"password\\\":\\\"Granola77!\\\",\\\"n\\\":1}', "Granola77!"),
    ("my password is [Granola77] for now", "Granola77"),
    ("密码是：Granola77，", "Granola77"),
    ("密码是:Granola77", "Granola77"),
    ("密码（Granola77）", "Granola77"),
    ("密码 - Granola77", "Granola77"),
    ("密码是 Granola77！", "Granola77"),
    ("パスワードは：Granola77です", "Granola77"),
    ("비밀번호는 Granola77 입니다", "Granola77"),
    ("lösenordet är:Gråsparv9", "Gråsparv9"),
    ("password is:Granola77", "Granola77"),
    ("salasana on Granola77", "Granola77"),
])  # fmt: skip
def test_a_password_is_found_with_nothing_around_it(text: str, value: str) -> None:
    assert passwords(text) == [value]


@pytest.mark.parametrize("text", [
    "my password is the thing I always forget",
    "lösenordet är det jag alltid glömmer",
    "passordet er det jeg alltid glemmer",
    "The password must be at least 12 characters, with 2 digits.",
    "Passwords are hashed with bcrypt or argon2id, salted, 600000 rounds of PBKDF2-SHA256.",
    "password is a 12-character string", "the password expires in 90days",
    "password: str = Field(min_length=8)", "password = os.environ['DB_PASSWORD']", "password=password",
    "PASSWORD=${SECRET}", "password: <your password>", "password: ••••••••", "password=%s", "password: xxxxxxxx",
    "if user.check_password(form.password.data): login_user(user)",
    "My passion is awesome! Keep it up!", "you can pass `debug=True` to it", "compass: N42W", "passage 12b",
    "reset your password at https://example.com/reset?id=4f7Ga9",
    "The password manager is 1Password or KeePassXC2.",
    "my password is [redacted: password]",
    "<input type=\"password\" id=\"exampleInputPassword1\">",
    "log in with Google", "the code is in src/main2.py", "https://user:pass@host.example/", "redis://localhost:6379/0",
])  # fmt: skip
def test_what_has_not_the_shape_of_one_stays(text: str) -> None:
    assert passwords(text) == []


@pytest.mark.parametrize("text", [
    "provided_password = 'secure_password123'",
    'return username == "user1" and password == "password123"',
    'login("ada", password="password123")',
    "if (user && password === 'Passord123') {",
    'const password = "test123";',
    'config["password"] = "valid_password1"',
    "'password' => 'lösenord123',",
    "    password = `dummy_42`",
])  # fmt: skip
def test_a_sample_that_a_program_assigns_or_compares_stays(text: str) -> None:
    assert passwords(text) == []
    assert passwords(f"Some code:\n```\n{text}\n```\n") == []


@pytest.mark.parametrize(("text", "value"), [
    ("my password is password123", "password123"),
    ("my password is 'password123'", "password123"),
    ("my password = 'password123'", "password123"),
    ("the password: \"password123\"", "password123"),
    ("lösenordet är lösenord123", "lösenord123"),
    ("DB_PASSWORD=password123", "password123"),
    ("password = 'Granola77'", "Granola77"),
    ('assert password == "Granola77"', "Granola77"),
    ("Wi-fi password = 'test123'", "test123"),
])  # fmt: skip
def test_the_same_said_by_a_person_or_no_sample_in_a_program_is_a_password(text: str, value: str) -> None:
    assert passwords(text) == [value]
